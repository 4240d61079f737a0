import type {
  CreateWebhookEndpointBody,
  ListWebhookDeliveriesQuery,
  ListWebhookEndpointsQuery,
} from "@bursar/client";
import { exitCodes, usage } from "../exit-codes.js";
import type { Command } from "./command.js";
import { eventKinds } from "./events.js";
import { idempotencyKey, keyOf, listCommand, oneCommand } from "./lists.js";

const whole = Number.MAX_SAFE_INTEGER;
/** The most that one request sends again. */
const resentMax = 1000;

export const webhookCommands: readonly Command[] = [
  listCommand<ListWebhookEndpointsQuery>({
    path: "webhooks endpoints",
    summary: "list the webhook endpoints",
    operation: "GET /v1/webhook-endpoints",
    columns: ["id", "state", "url", "events", "failing_since", "disabled_reason"],
    read: (bursar, query) => bursar.webhookEndpoints.list(query),
  }),
  {
    path: "webhooks add",
    summary: "register an endpoint, which is pending until it is verified; its secret is shown once",
    arguments: [{ name: "url", about: "an https address; a sandbox also accepts http on its own machine" }],
    options: [
      {
        name: "events",
        value: "kind",
        about: "only these kinds of events",
        many: true,
        choices: ["*", ...eventKinds],
      },
      { name: "description", value: "text", about: "a description" },
      idempotencyKey,
    ],
    operations: ["POST /v1/webhook-endpoints"],
    changes: true,
    run: async ({ bursar, output, note }, given) => {
      const events = given.list("events") as NonNullable<CreateWebhookEndpointBody["events"]>;
      const description = given.text("description");
      const body = {
        url: given.argument("url"),
        ...(events.length === 0 ? {} : { events }),
        ...(description === undefined ? {} : { description }),
      };
      const endpoint = await (await bursar()).webhookEndpoints.create(body, keyOf(given));
      output.one(endpoint);
      if (endpoint.state === "pending")
        note(
          `It receives nothing yet. Give the secret to your receiver, start it, and run \`bursar webhooks verify ${endpoint.id}\`.`,
        );
      return undefined;
    },
  },
  {
    path: "webhooks verify",
    summary: "send a challenge to a pending endpoint, which is active once its receiver answers it",
    arguments: [{ name: "endpoint", about: "the id of the endpoint" }],
    operations: ["POST /v1/webhook-endpoints/{id}/verify"],
    changes: true,
    run: async ({ bursar, output }, given) => {
      const result = await (await bursar()).webhookEndpoints.verify(given.argument("endpoint"));
      output.one(result);
      return result.verified ? undefined : exitCodes.refused.code;
    },
  },
  oneCommand({
    path: "webhooks remove",
    summary: "delete an endpoint",
    operation: "DELETE /v1/webhook-endpoints/{id}",
    id: "endpoint",
    changes: true,
    send: (bursar, id) => bursar.webhookEndpoints.delete(id),
  }),
  oneCommand({
    path: "webhooks enable",
    summary: "enable an endpoint again",
    operation: "POST /v1/webhook-endpoints/{id}/enable",
    id: "endpoint",
    changes: true,
    send: (bursar, id) => bursar.webhookEndpoints.enable(id),
  }),
  {
    path: "webhooks test",
    summary: "send a test to an endpoint and show what its receiver answered",
    arguments: [{ name: "endpoint", about: "the id of the endpoint" }],
    operations: ["POST /v1/webhook-endpoints/{id}/test"],
    run: async ({ bursar, output }, given) => {
      const result = await (await bursar()).webhookEndpoints.test(given.argument("endpoint"));
      output.one(result);
      return result.delivered ? undefined : exitCodes.refused.code;
    },
  },
  listCommand<ListWebhookDeliveriesQuery>({
    path: "webhooks deliveries",
    summary: "list deliveries, newest first",
    operation: "GET /v1/webhook-deliveries",
    options: [
      { name: "endpoint-id", value: "endpoint", about: "only to this endpoint" },
      {
        name: "state",
        value: "state",
        about: "only in this state",
        choices: ["pending", "delivered", "exhausted"],
      },
      { name: "event", value: "kind", about: "only of this kind", choices: eventKinds },
      { name: "sequence", value: "number", about: "only of this event" },
      { name: "created-after", value: "time", about: "only those created after this time" },
      { name: "created-before", value: "time", about: "only those created before this time" },
    ],
    columns: [
      "id",
      "state",
      "event",
      "sequence",
      "attempt_count",
      "last_status",
      "next_attempt_at",
      "created_at",
    ],
    read: (bursar, query) => bursar.webhookDeliveries.list(query),
  }),
  oneCommand({
    path: "webhooks delivery",
    summary: "show a delivery with its attempts and what was sent",
    operation: "GET /v1/webhook-deliveries/{id}",
    id: "delivery",
    send: (bursar, id) => bursar.webhookDeliveries.get(id),
  }),
  {
    path: "webhooks resend",
    summary: "send a delivery again, or all that have failed",
    arguments: [{ name: "delivery", about: "the id of the delivery", optional: true }],
    options: [
      { name: "failed", about: "all deliveries that have failed" },
      { name: "endpoint-id", value: "endpoint", about: "with --failed: only to this endpoint" },
      idempotencyKey,
    ],
    operations: ["POST /v1/webhook-deliveries/{id}/resend", "POST /v1/webhook-deliveries/resend-failed"],
    changes: true,
    run: async ({ bursar, output, note }, given) => {
      const [id] = given.all("delivery");
      if ((id === undefined) !== given.flag("failed")) throw usage("Give the id of a delivery, or --failed.");
      const { webhookDeliveries } = await bursar();
      if (id !== undefined) {
        output.one(await webhookDeliveries.resend(id, keyOf(given)));
        return undefined;
      }
      const endpoint = given.text("endpoint-id");
      const body = { limit: resentMax, ...(endpoint === undefined ? {} : { endpoint_id: endpoint }) };
      const result = await webhookDeliveries.resendFailed(body, keyOf(given));
      output.one(result);
      if (result.has_more) note("There are more: run the command again.");
      return undefined;
    },
  },
  {
    path: "webhooks replay",
    summary: "send the events from a sequence on to an endpoint again",
    arguments: [{ name: "endpoint", about: "the id of the endpoint" }],
    options: [
      { name: "from", value: "sequence", about: "the first event to send", required: true },
      { name: "limit", value: "count", about: "how many; all by default" },
    ],
    operations: ["POST /v1/webhook-deliveries/replay"],
    changes: true,
    run: async ({ bursar, output, io }, given) => {
      const { webhookDeliveries } = await bursar();
      const endpoint_id = given.argument("endpoint");
      let next: number | null = given.number("from", { min: 0, max: whole }) ?? 0;
      let left = given.number("limit", { min: 1, max: whole }) ?? whole;
      let resent = 0;
      while (next !== null && left > 0 && !io.signal.aborted) {
        const page: { resent: number; next_sequence: number | null } = await webhookDeliveries.replay({
          endpoint_id,
          from_sequence: next,
          limit: Math.min(left, 1000),
        });
        resent += page.resent;
        left -= page.resent;
        next = page.next_sequence;
      }
      output.one({ resent, next_sequence: next });
      return undefined;
    },
  },
  {
    path: "webhooks listen",
    summary: "receive, verify and print webhooks on this machine, of any service",
    options: [
      { name: "port", value: "number", about: "the port to listen on; 8090 by default, 0 picks a free one" },
      { name: "events", value: "kinds", about: "only these kinds of events, separated by commas" },
      { name: "print", about: "print the payload of each delivery too" },
      { name: "status", value: "code", about: "the status to respond with; 200 by default" },
      { name: "delay", value: "ms", about: "the delay before the response" },
      {
        name: "forward-to",
        value: "url",
        about: "forward each delivery, and show what that receiver answers",
      },
      {
        name: "follow",
        about: "follow the stream and sign locally, also if the service could reach this machine",
      },
    ],
    operations: [
      "GET /v1/webhook-endpoints",
      "POST /v1/webhook-endpoints",
      "POST /v1/webhook-endpoints/{id}/verify",
      "DELETE /v1/webhook-endpoints/{id}",
      "GET /v1/stream",
    ],
    watches: true,
    // It verifies and signs, which no other command does: a third of the modules.
    run: async (context, given) => {
      const { listenForWebhooks } = await import("../listen/listen.js");
      return listenForWebhooks(context, given);
    },
  },
];
