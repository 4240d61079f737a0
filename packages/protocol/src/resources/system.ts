import { type Static, Type } from "typebox";
import { exampleIds } from "../examples/example-ids.js";
import { Nullable, OneOf, PathId, Timestamp } from "../values.js";
import { Lag } from "./overview.js";
import { boundedCount } from "./webhook-stats.js";

const backlog = {
  ...boundedCount,
  oldest_at: Nullable(Timestamp(), "Since when the oldest one waits; null if there is none."),
};

export const System = Type.Object(
  {
    object: Type.Literal("system"),
    version: Type.String({ description: "The version of the software." }),
    schema_version: Type.Integer({ description: "The number of the last migration of the database." }),
    process: Type.Object(
      {
        id: Type.String({ description: "Chosen by the process when it started." }),
        started_at: Timestamp(),
        overloaded: Type.Boolean({ description: "Whether it refuses new work." }),
        ready: Type.Boolean({
          description: "Whether `/readyz` of this process lets a load balancer send requests to it.",
        }),
        not_ready: Type.Array(Type.Object({ path: Type.String(), reason: Type.String() }), {
          maxItems: 10,
          description: "What keeps it from being ready, such as its clock; empty if it is ready.",
        }),
      },
      { description: "The process that has answered. There can be others." },
    ),
    database: Type.Object({
      epoch: Nullable(Type.String(), "Changes when the database was restored or has failed over."),
      clock: OneOf(["trusted", "differs"], {
        description: "`differs` while the clock of the process and that of the database differ too much.",
      }),
      connections: Type.Object(
        { max: Type.Integer(), in_use: Type.Integer(), idle: Type.Integer(), waiting: Type.Integer() },
        { description: "Of this process; `waiting` counts what waits for one." },
      ),
    }),
    transactions: Type.Object(
      {
        accepted: Type.Object(backlog, { description: "Not judged yet." }),
        awaiting_approval: Type.Object(boundedCount),
        on_rails: Type.Integer({ description: "Those that wait for a network, as of `reader`." }),
      },
      { description: "The transactions of this tenant that are not final." },
    ),
    deliveries: Type.Object(
      {
        pending: Type.Object(backlog),
        deferred_events: Type.Integer({ description: "Events whose deliveries are still to be written." }),
        failing_endpoints: Type.Integer(),
        disabled_endpoints: Type.Integer({ description: "Those that the service has disabled." }),
      },
      { description: "The webhook deliveries of this tenant." },
    ),
    reader: Lag,
    markets: Type.Array(
      Type.Object({
        market: Type.String(),
        state: OneOf(["running", "waiting", "halted"], {
          description: "`waiting`: no process runs it at the moment. `halted`: it waits for the operator.",
        }),
        holder: Nullable(
          Type.Object({
            process_id: Type.String({ description: "As `process.id` of the process that runs it." }),
            since: Nullable(Timestamp(), "Null if the process has run it since before this was recorded."),
          }),
          "The process that runs it; null if none does at the moment.",
        ),
      }),
      { maxItems: 100 },
    ),
    signer: Nullable(OneOf(["up", "down"]), "Null if no chain is in use."),
    networks: Type.Array(
      Type.Object({
        network: Type.String(),
        state: OneOf(["connecting", "waiting", "unreachable", "stalled", "following", "halted"]),
        unreachable_since: Nullable(
          Timestamp(),
          "Since when no node has answered; null in every other state.",
        ),
      }),
      { maxItems: 100, description: "The chains that are in use." },
    ),
    keys: Type.Object({
      token: Type.Array(Type.String(), { description: "The ids of the keys that verify access tokens." }),
      token_unreadable: Type.Array(Type.String(), {
        maxItems: 100,
        description:
          "The ids of keys in the database that the master key does not decrypt: they sign and verify nothing. If there is one, something other than the service has written it; tell the operator.",
      }),
      audit: Type.Array(Type.String(), {
        description: "The ids of the keys that verify checkpoints of the audit log.",
      }),
    }),
  },
  {
    $id: "System",
    description: "How the service is doing. Of what waits, only what belongs to this tenant is counted.",
  },
);
export type System = Static<typeof System>;

const FailedItem = Type.Object(
  {
    object: Type.Literal("failure"),
    kind: OneOf(["transaction", "order", "wallet", "delivery"]),
    id: Type.String({ description: "The id of the transaction, order, wallet or delivery." }),
    attempts: Type.Integer(),
    state: OneOf(["due", "waiting", "set_aside"], {
      description: "`set_aside`: it is not tried again until somebody asks for it.",
    }),
    retry_at: Nullable(Timestamp(), "When it is tried next; null if it is due or was set aside."),
  },
  { $id: "FailedItem" },
);
export type FailedItem = Static<typeof FailedItem>;

export const FailureList = Type.Object(
  {
    data: Type.Array(FailedItem, {
      maxItems: 200,
      description: "Up to 50 of each kind, those that are tried next first.",
    }),
  },
  { $id: "FailureList" },
);

export const FailurePath = Type.Object({
  id: PathId("The id of what has failed.", exampleIds.transaction),
});

export const RetriedFailure = Type.Object(
  { id: Type.String(), state: Type.Literal("due") },
  { $id: "RetriedFailure" },
);
