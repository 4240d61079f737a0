import { type TransactionState, transactionKinds, transactionStates, transitions } from "@bursar/domain";
import { type Static, Type } from "typebox";
import { exampleIds } from "../examples/example-ids.js";
import { Page, PageQuery } from "../pagination.js";
import { ApprovalStatus } from "../policy/approval.js";
import {
  Actor,
  CreatedBy,
  Decimal,
  Failure,
  Fee,
  Nullable,
  OneOf,
  PathId,
  SomeOf,
  Strings,
  TimeFilter,
  Timestamp,
} from "../values.js";

const stateNames = Object.keys(transactionStates) as TransactionState[];
const State = OneOf(stateNames);

/** One of the tenant's wallets, as a party to a transaction. */
export const WalletParty = Type.Object(
  { wallet_id: Type.String({ maxLength: 64 }) },
  { $id: "WalletParty", additionalProperties: false },
);

/** An address on the asset's network, as a party to a transaction. */
const AddressParty = Type.Object(
  { address: Type.String({ minLength: 1, maxLength: 256 }) },
  { $id: "AddressParty", additionalProperties: false },
);

/** The three fields of the contract are enough: the tenant's primary wallet then pays its settlement wallet. */
export const CreateTransactionBody = Type.Object(
  {
    reference: Type.String({
      minLength: 1,
      maxLength: 128,
      description: "The client's own reference for it.",
    }),
    asset: Type.String({
      minLength: 1,
      maxLength: 128,
      description: "An asset code of `GET /v1/assets`, or a CAIP-19 id.",
    }),
    amount: Decimal(
      "A decimal number as a string, such as `125.50`, with no more decimals than the asset has.",
    ),
    source: Type.Optional(WalletParty),
    destination: Type.Optional(Type.Union([WalletParty, AddressParty])),
    metadata: Type.Optional(
      Strings({
        additionalProperties: Type.String({ maxLength: 512 }),
        propertyNames: { minLength: 1, maxLength: 64 },
        maxProperties: 20,
      }),
    ),
    expires_at: Type.Optional(Timestamp("If it has not been processed by then, it fails with `EXPIRED`.")),
  },
  { $id: "CreateTransactionBody", additionalProperties: false },
);
export type CreateTransactionBody = Static<typeof CreateTransactionBody>;

const HistoryEntry = Type.Object(
  {
    version: Type.Integer(),
    state: State,
    occurred_at: Timestamp(),
    actor: Type.Optional(Actor),
    approval: Type.Optional(
      Type.Object(
        {
          client_id: Type.String(),
          decision: OneOf(["approve", "reject"]),
          comment: Nullable(Type.String()),
        },
        { description: "The approver's decision that caused this entry." },
      ),
    ),
  },
  { $id: "TransactionHistoryEntry" },
);

const CancelRequest = Type.Object(
  { requested_at: Timestamp(), requested_by: Actor },
  { $id: "CancelRequest", description: "The first request to cancel it." },
);

export const Transaction = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal("transaction"),
    kind: OneOf(transactionKinds, {
      description:
        "`transfer`: between two wallets of the tenant. `payout`: to an address. `deposit`: from outside to a wallet. `sweep`: from a deposit wallet to its treasury. `refuel`: pays the network fees of another wallet.",
    }),
    reference: Type.String(),
    asset: Type.String(),
    amount: Type.String({ description: "In canonical form, without trailing zeros." }),
    state: State,
    version: Type.Integer({ description: "1 when accepted; increases with every change." }),
    source: Nullable(
      Type.Union([WalletParty, AddressParty]),
      "Null if a deposit has no single known sender.",
    ),
    destination: Type.Union([WalletParty, AddressParty]),
    fee: Nullable(Fee, "What the network charged; null if nothing was charged."),
    network: Type.String(),
    hash: Nullable(
      Type.String(),
      "The hash under which its network knows it: the first that was sent, until a block contains it, then the one in the block. The two differ if a payment was replaced by one with a higher fee; `GET /v1/search` finds it by both. Null before it is broadcast, and on the book.",
    ),
    block: Nullable(
      Type.Object({ number: Type.Integer(), hash: Type.String() }),
      "The block that contains it. Null before it is in one, after a reorganisation took it out, and on the book.",
    ),
    failure: Nullable(Failure, "Why it was rejected, failed or cancelled; null otherwise."),
    policy_version: Type.Integer({
      description: "The version of the policy that evaluated it; 0 for a deposit, which no policy evaluates.",
    }),
    policy_rule: Nullable(
      Type.String(),
      "The rule of it that decided: that allowed it, required approvals or rejected it; `default` if none matched. Null until it is decided, for what no policy evaluates, and if it was not recorded yet.",
    ),
    approval: Nullable(ApprovalStatus, "Null if no approval was required."),
    cancel_request: Nullable(
      CancelRequest,
      "That it shall be cancelled, while its network works on it and it is not decided whether it is paid. Null otherwise, and in events: it is not a version of the transaction.",
    ),
    history: Type.Array(HistoryEntry, {
      description:
        "Oldest first. An entry has an `actor` if a client or the operator caused it, such as a cancellation; `created_by` is the actor of the first.",
    }),
    metadata: Strings({ additionalProperties: Type.String() }),
    expires_at: Nullable(Timestamp()),
    created_by: CreatedBy,
    created_at: Timestamp(),
    updated_at: Timestamp(),
  },
  { $id: "Transaction" },
);
export type Transaction = Static<typeof Transaction>;

export const TransactionPage = Page(Transaction, "TransactionPage");
/** What a client may see of a transaction that it can change but not read. */
const TransactionSummary = Type.Object(
  { id: Type.String(), object: Type.Literal("transaction"), state: Transaction.properties.state },
  { $id: "TransactionSummary", additionalProperties: false },
);

export const ChangedTransaction = Type.Union([Transaction, TransactionSummary], {
  $id: "ChangedTransaction",
  description: "The transaction; only its id and state if the client lacks `transactions:read`.",
});

export const TransactionPath = Type.Object({
  id: PathId("The id of the transaction.", exampleIds.transaction),
});

export const TransactionQuery = Type.Object(
  {
    ...PageQuery("transactions").properties,
    kind: Type.Optional(
      OneOf(transactionKinds, { description: "Only transactions of this kind.", examples: ["transfer"] }),
    ),
    state: Type.Optional(
      SomeOf(stateNames, {
        description: "Only transactions in one of these states: `state=failed&state=rejected`.",
        examples: [["failed", "rejected"]],
      }),
    ),
    idempotency_key: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 255,
        description: "The `Idempotency-Key` that created it. A payment and a deposit can have the same.",
        examples: ["payout-2026-11-16-0001"],
      }),
    ),
    reference: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 128,
        description: "The client's own reference.",
        examples: ["invoice-2041"],
      }),
    ),
    asset: Type.Optional(
      Type.String({ minLength: 1, maxLength: 128, description: "An asset code.", examples: ["USD"] }),
    ),
    wallet_id: Type.Optional(
      Type.String({
        maxLength: 64,
        description: "The source or the destination.",
        examples: [exampleIds.primaryWallet],
      }),
    ),
    client_id: Type.Optional(
      Type.String({
        maxLength: 64,
        description: "The client that created it.",
        examples: [exampleIds.client],
      }),
    ),
    order: Type.Optional(
      OneOf(["newest", "deadline"], {
        default: "newest",
        description:
          "`newest`: newest first. `deadline`: only transactions that wait for approval, those that expire next first; `state` can be left out then.",
        examples: ["newest"],
      }),
    ),
    created_after: Type.Optional(TimeFilter("Created at this time or later.", "2026-11-01T00:00:00Z")),
    created_before: Type.Optional(TimeFilter("Created before this time.", "2026-12-01T00:00:00Z")),
  },
  { additionalProperties: false },
);

const DescribedState = Type.Object(
  { state: State, meaning: Type.String(), final: Type.Boolean(), next: Type.Array(State) },
  { $id: "TransactionStateDescription" },
);

export const TransactionStates = Type.Object(
  { data: Type.Array(DescribedState) },
  { $id: "TransactionStates" },
);

/** The table of states as the API and its reference show it. */
export function describeTransactionStates(): Static<typeof DescribedState>[] {
  return (Object.keys(transactionStates) as TransactionState[]).map((state) => ({
    state,
    meaning: transactionStates[state].meaning,
    final: transactionStates[state].final,
    next: [...new Set(Object.values(transitions[state]))],
  }));
}
