import { type Static, Type } from "typebox";
import { Nullable, OneOf } from "../values.js";

const LedgerAccount = Type.Object(
  {
    kind: OneOf(["wallet", "external", "market", "fees"], {
      description:
        "`external` is everything outside of the service on the network of the asset, `market` what is on the way between two wallets of an order.",
    }),
    wallet_id: Nullable(Type.String(), "The wallet, if it is one."),
  },
  { $id: "LedgerAccount" },
);
export type LedgerAccount = Static<typeof LedgerAccount>;

const LedgerEntry = Type.Object(
  {
    object: Type.Literal("ledger_entry"),
    line: Type.Integer({ description: "Numbers the entries of one transaction." }),
    debit: LedgerAccount,
    credit: LedgerAccount,
    asset: Type.String(),
    amount: Type.String({ description: "What was taken from `debit` and added to `credit`." }),
  },
  { $id: "LedgerEntry" },
);

/** The answer of `GET /v1/transactions/{id}/entries`. */
export const LedgerEntries = Type.Object(
  { data: Type.Array(LedgerEntry, { description: "By line. Empty while nothing was moved." }) },
  { $id: "LedgerEntries" },
);
export type LedgerEntries = Static<typeof LedgerEntries>;
