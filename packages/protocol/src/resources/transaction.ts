import { transactionKinds, transactionStates } from "@bursar/domain";
import { type Static, type TSchema, type TSchemaOptions, Type } from "typebox";
import { Page, PageQuery } from "../pagination.js";
import { ApprovalStatus } from "../policy/approval.js";

const Timestamp = Type.String({ format: "date-time" });
const State = Type.Enum(Object.keys(transactionStates) as (keyof typeof transactionStates)[]);
export const WalletSide = Type.Object(
  { wallet_id: Type.String({ maxLength: 64 }) },
  { additionalProperties: false },
);

const AddressSide = Type.Object(
  { address: Type.String({ minLength: 1, maxLength: 256 }) },
  { additionalProperties: false },
);
/** A wallet of the tenant, or an address on the network of the asset. */
const Side = Type.Union([WalletSide, AddressSide]);

// The text of an amount is checked where its asset is known; here only its length, so that nothing long is looked at.
const Amount = Type.String({
  minLength: 1,
  maxLength: 79,
  description: "A decimal number as a text, such as `125.50`; no more decimals than the asset has.",
});

/** Texts by names of the client's own. Not a record: its pattern for names has no line breaks, and what it does not match passes. */
const Texts = (options: {
  additionalProperties: TSchema;
  propertyNames?: TSchemaOptions;
  maxProperties?: number;
}) => Type.Unsafe<Record<string, string>>({ type: "object", ...options });

/** The contract's three fields are enough: the tenant's primary wallet then pays its settlement wallet. */
export const CreateTransactionBody = Type.Object(
  {
    reference: Type.String({ minLength: 1, maxLength: 128, description: "The client's own name for it." }),
    asset: Type.String({
      minLength: 1,
      maxLength: 128,
      description: "A code of `GET /v1/assets`, or a CAIP-19 id.",
    }),
    amount: Amount,
    source: Type.Optional(WalletSide),
    destination: Type.Optional(Side),
    metadata: Type.Optional(
      Texts({
        additionalProperties: Type.String({ maxLength: 512 }),
        propertyNames: { minLength: 1, maxLength: 64 },
        maxProperties: 20,
      }),
    ),
    expires_at: Type.Optional(
      Type.String({
        format: "date-time",
        description: "If it has not been processed by then, it fails with `EXPIRED`.",
      }),
    ),
  },
  { additionalProperties: false },
);
export type CreateTransactionBody = Static<typeof CreateTransactionBody>;

const HistoryEntry = Type.Object({
  version: Type.Integer(),
  state: State,
  occurred_at: Timestamp,
  approval: Type.Optional(
    Type.Object(
      {
        client_id: Type.String(),
        decision: Type.Enum(["approve", "reject"]),
        comment: Type.Union([Type.String(), Type.Null()]),
      },
      { description: "What a person has said, where that is what happened." },
    ),
  ),
});

export const Transaction = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal("transaction"),
    kind: Type.Enum([...transactionKinds]),
    reference: Type.String(),
    asset: Type.String(),
    amount: Type.String({ description: "In canonical form: no needless zeros." }),
    state: State,
    version: Type.Integer({ description: "Counts its changes; 1 when it is accepted." }),
    source: Side,
    destination: Side,
    fee: Type.Union([Type.Object({ asset: Type.String(), amount: Type.String() }), Type.Null()], {
      description: "What the network charged; null if it charged nothing, or not yet.",
    }),
    network: Type.String(),
    failure: Type.Union([
      Type.Object({
        code: Type.String(),
        message: Type.String(),
        rule: Type.Optional(Type.String({ description: "The rule of the policy that has refused it." })),
      }),
      Type.Null(),
    ]),
    policy_version: Type.Integer({ description: "The version of the policy that has judged it." }),
    approval: Type.Union([ApprovalStatus, Type.Null()]),
    history: Type.Array(HistoryEntry),
    metadata: Texts({ additionalProperties: Type.String() }),
    expires_at: Type.Union([Timestamp, Type.Null()]),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { $id: "Transaction" },
);
export type Transaction = Static<typeof Transaction>;

export const TransactionPage = Page(Transaction, "TransactionPage");
export const TransactionPath = Type.Object({ id: Type.String() });

export const TransactionQuery = Type.Object(
  {
    ...PageQuery.properties,
    state: Type.Optional(State),
    reference: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
    asset: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
    wallet_id: Type.Optional(Type.String({ maxLength: 64, description: "As source or as destination." })),
    created_after: Type.Optional(Timestamp),
    created_before: Type.Optional(Timestamp),
  },
  { additionalProperties: false },
);

export const TransactionStates = Type.Object(
  {
    data: Type.Array(
      Type.Object({ state: State, meaning: Type.String(), final: Type.Boolean(), next: Type.Array(State) }),
    ),
  },
  { $id: "TransactionStates" },
);
