import { walletPurposes } from "@bursar/domain";
import { type Static, Type } from "typebox";
import { exampleIds } from "../examples/example-ids.js";
import { Page, PageQuery } from "../pagination.js";
import { CreatedBy, Nullable, OneOf, PathId, Timestamp } from "../values.js";

const Purpose = OneOf(walletPurposes);
const stateNames = ["creating", "active"] as const;
const State = OneOf(stateNames);

export const CreateWalletBody = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 128 }),
    purpose: Purpose,
    network: Type.Optional(Type.String({ minLength: 1, maxLength: 64, description: "Defaults to `book`." })),
  },
  { $id: "CreateWalletBody", additionalProperties: false },
);
export type CreateWalletBody = Static<typeof CreateWalletBody>;

const Balance = Type.Object(
  {
    asset: Type.String(),
    available: Type.String({ description: "What can be spent." }),
    held: Type.String({ description: "What is reserved for open transactions and orders." }),
  },
  { $id: "Balance" },
);

const walletFields = {
  id: Type.String(),
  object: Type.Literal("wallet"),
  name: Type.String(),
  purpose: Purpose,
  network: Type.String(),
  role: Nullable(OneOf(["primary", "settlement"]), "Set on the two wallets that every tenant starts with."),
  state: State,
  frozen: Type.Boolean({ description: "Nothing can be sent from a frozen wallet." }),
  version: Type.Integer({ description: "Starts at 1 and increases with every change." }),
  address: Nullable(
    Type.String(),
    "The address on its network; null while it is being created, and for wallets of the book.",
  ),
  created_by: CreatedBy,
  created_at: Timestamp(),
  updated_at: Timestamp(),
};

export const Wallet = Type.Object({ ...walletFields, balances: Type.Array(Balance) }, { $id: "Wallet" });
export type Wallet = Static<typeof Wallet>;

/** A wallet in an event. Its balances are not part of what changed. */
export const WalletSummary = Type.Object(walletFields, { $id: "WalletSummary" });
export type WalletSummary = Static<typeof WalletSummary>;

export const WalletPage = Page(Wallet, "WalletPage");
export const WalletPath = Type.Object({ id: PathId("The id of the wallet.", exampleIds.primaryWallet) });

export const WalletQuery = Type.Object(
  {
    ...PageQuery("wallets").properties,
    purpose: Type.Optional(
      OneOf(walletPurposes, { description: "Only wallets with this purpose.", examples: ["payout"] }),
    ),
    state: Type.Optional(
      OneOf(stateNames, { description: "Only wallets in this state.", examples: ["active"] }),
    ),
    network: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 64,
        description: "Only wallets of this network.",
        examples: ["book"],
      }),
    ),
    frozen: Type.Optional(
      Type.Boolean({ description: "Only wallets that are frozen, or are not.", examples: [false] }),
    ),
  },
  { additionalProperties: false },
);
