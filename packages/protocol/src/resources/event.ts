import { type Static, Type } from "typebox";
import { Order } from "./order.js";
import { Transaction } from "./transaction.js";
import { Wallet } from "./wallet.js";

/** The body of an event, the same to every reader of the log. */
export const Event = Type.Object(
  {
    event: Type.Enum(["transaction.updated", "wallet.updated", "order.updated", "endpoint.disabled"]),
    sequence: Type.Integer({
      description: "Counts the tenant's events: no gap, in the order of their commits.",
    }),
    occurred_at: Type.String({ format: "date-time" }),
    data: Type.Object({
      transaction: Type.Optional(Transaction),
      order: Type.Optional(Order),
      // What a wallet held at that moment is not part of what changed; its balances are read where they are wanted.
      wallet: Type.Optional(Type.Omit(Wallet, ["balances"])),
      webhook_endpoint: Type.Optional(
        Type.Object({
          id: Type.String(),
          object: Type.Literal("webhook_endpoint"),
          version: Type.Integer(),
          state: Type.Literal("disabled"),
          disabled_reason: Type.String(),
        }),
      ),
      previous_state: Type.String(),
    }),
  },
  { $id: "Event" },
);

export type Event = Static<typeof Event>;

export const EventQuery = Type.Object(
  {
    after: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        default: 0,
        description: "The last sequence already seen.",
      }),
    ),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, default: 50 })),
  },
  { additionalProperties: false },
);

export const EventList = Type.Object({ data: Type.Array(Event) }, { $id: "EventList" });
