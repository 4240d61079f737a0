import { type Static, Type } from "typebox";
import { AuditCheckpoint } from "../access/audit.js";
import { ChangeRequestSummary } from "../access/change-request.js";
import type { Scope } from "../access/scopes.js";
import { exampleIds } from "../examples/example-ids.js";
import { Actor, EpochName, OneOf, SomeOf, Timestamp } from "../values.js";
import { Order } from "./order.js";
import { Transaction } from "./transaction.js";
import { WalletSummary } from "./wallet.js";

export const eventKinds = [
  "transaction.updated",
  "wallet.updated",
  "order.updated",
  "endpoint.disabled",
  "change_request.updated",
  "audit.checkpoint",
] as const;
export type EventKind = (typeof eventKinds)[number];
export const EventKind = OneOf(eventKinds);

/** What each kind says, as the documents show it. */
export const eventKindDescriptions: Readonly<Record<EventKind, string>> = {
  "transaction.updated": "A transaction has changed.",
  "wallet.updated": "A wallet was created, frozen or unfrozen.",
  "order.updated": "An order has changed.",
  "endpoint.disabled": "A webhook endpoint of the tenant was disabled.",
  "change_request.updated": "A change request was created, decided, applied or has expired.",
  "audit.checkpoint": "The end of the audit log was signed.",
};

/** The scope that lets a client read events of a kind, besides `events:read`, which covers all of them. */
export const eventScopes: Readonly<Record<EventKind, Scope>> = {
  "transaction.updated": "transactions:read",
  "wallet.updated": "wallets:read",
  "order.updated": "orders:read",
  "endpoint.disabled": "webhooks:manage",
  "change_request.updated": "clients:manage",
  "audit.checkpoint": "audit:read",
};

/** Whether scopes allow a client to read events of a kind. */
export function mayReadEvents(scopes: readonly string[], kind: EventKind): boolean {
  return scopes.includes("events:read") || scopes.includes(eventScopes[kind]);
}

const EventData = Type.Object(
  {
    transaction: Type.Optional(Transaction),
    order: Type.Optional(Order),
    wallet: Type.Optional(WalletSummary),
    webhook_endpoint: Type.Optional(
      Type.Object({
        id: Type.String(),
        object: Type.Literal("webhook_endpoint"),
        version: Type.Integer(),
        state: Type.Literal("disabled"),
        disabled_reason: Type.String(),
      }),
    ),
    change_request: Type.Optional(ChangeRequestSummary),
    checkpoint: Type.Optional(AuditCheckpoint),
    previous_state: Type.String({ description: "`none` if the change created the resource." }),
    previous_frozen: Type.Optional(
      Type.Boolean({ description: "Of a wallet: whether it was frozen before the change." }),
    ),
  },
  { $id: "EventData", description: "The resource right after the change, and its state before." },
);

/** The body of an event, identical in the log, in webhooks and in the stream. */
export const Event = Type.Object(
  {
    event: EventKind,
    sequence: Type.Integer({
      description: "Numbers the tenant's events in commit order, without gaps within an epoch.",
    }),
    occurred_at: Timestamp(),
    actor: Actor,
    data: EventData,
  },
  { $id: "Event" },
);

export type Event = Static<typeof Event>;

const Sequence = (options: { description: string; default?: number; examples: readonly number[] }) =>
  Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, ...options });

export const EventQuery = Type.Object(
  {
    after: Type.Optional(
      Sequence({ default: 0, description: "The last sequence already seen.", examples: [1041] }),
    ),
    before: Type.Optional(
      Sequence({
        description: "Only events before this sequence; newest first, unless `order` says otherwise.",
        examples: [2048],
      }),
    ),
    order: Type.Optional(
      OneOf(["asc", "desc"], {
        description:
          "`asc`: in order of `sequence`. `desc`: newest first. Defaults to `asc`, or to `desc` with `before`.",
        examples: ["asc"],
      }),
    ),
    kinds: Type.Optional(
      SomeOf(eventKinds, {
        description: "Only events of these kinds: `kinds=wallet.updated&kinds=order.updated`.",
        examples: [["transaction.updated"]],
      }),
    ),
    subject_id: Type.Optional(
      Type.String({
        maxLength: 64,
        description: "Only events of this transaction, wallet, order, webhook endpoint or change request.",
        examples: [exampleIds.transaction],
      }),
    ),
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 200,
        default: 50,
        description: "The maximum number of events to return.",
        examples: [50],
      }),
    ),
  },
  { additionalProperties: false },
);

export const EventList = Type.Object(
  {
    data: Type.Array(Event),
    epoch: EpochName,
    latest_sequence: Type.Integer({ description: "The last sequence of the log; 0 if it is empty." }),
    scanned_to: Type.Integer({
      description:
        "The last sequence that this page has looked at: the `after` of the next page, or its `before` if the newest come first. With a filter, a page can have fewer events than `limit`, or none, and not be the last.",
    }),
    has_more: Type.Boolean({ description: "Whether there can be another page." }),
  },
  { $id: "EventList" },
);
