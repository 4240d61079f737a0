import type { EventKind } from "../resources/event.js";
import { changeRequestSummary } from "./change-request-examples.js";
import type { Examples } from "./example.js";
import { exampleIds } from "./example-ids.js";
import { partlyFilledOrder } from "./market-examples.js";
import { completedTransaction } from "./transaction-examples.js";
import { walletSummary } from "./wallet-examples.js";
import { endpoint } from "./webhook-examples.js";

const service = { type: "service", client_id: null };
const client = { type: "client", client_id: exampleIds.client };

/** One event of each kind; a new kind does not compile without one. */
const events: Readonly<Record<EventKind, { occurred_at: string; actor: object; data: object }>> = {
  "transaction.updated": {
    occurred_at: completedTransaction.updated_at,
    actor: service,
    data: { transaction: completedTransaction, previous_state: "accepted" },
  },
  "wallet.updated": {
    occurred_at: walletSummary.updated_at,
    actor: service,
    data: { wallet: walletSummary, previous_state: "creating", previous_frozen: false },
  },
  "order.updated": {
    occurred_at: partlyFilledOrder.updated_at,
    actor: service,
    data: { order: partlyFilledOrder, previous_state: "open" },
  },
  "endpoint.disabled": {
    occurred_at: "2026-11-16T09:40:00.000Z",
    actor: service,
    data: {
      webhook_endpoint: {
        id: exampleIds.endpoint,
        object: "webhook_endpoint",
        version: 3,
        state: "disabled",
        disabled_reason: "gone",
      },
      previous_state: "enabled",
    },
  },
  "change_request.updated": {
    occurred_at: changeRequestSummary.created_at,
    actor: client,
    data: { change_request: changeRequestSummary, previous_state: "none" },
  },
  "audit.checkpoint": {
    occurred_at: "2026-11-16T09:31:00.000Z",
    actor: service,
    data: {
      checkpoint: {
        tenant_id: exampleIds.tenant,
        number: 1042,
        hash: "4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945",
        time: "2026-11-16T09:31:00.000Z",
        key_id: "b1946ac92492d234",
        signature: "3q2-7wABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4fICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ow",
      },
      previous_state: "none",
    },
  },
};

const kinds = Object.keys(events) as EventKind[];
const sequence = 1042;
const delivery_id = exampleIds.delivery;
const epoch = exampleIds.epoch;

export const transactionEvent = { event: kinds[0], sequence, ...events["transaction.updated"] };

export const eventExamples: Examples = {
  EventList: {
    value: {
      data: [transactionEvent],
      epoch,
      latest_sequence: sequence,
      scanned_to: sequence,
      has_more: false,
    },
  },
  ...Object.fromEntries(
    kinds.map((event) => [
      `WebhookBody.${event}`,
      { value: { event, delivery_id, sequence, ...events[event] } },
    ]),
  ),
  WebhookChallenge: {
    value: {
      event: "endpoint.challenge",
      delivery_id,
      sequence: null,
      occurred_at: "2026-10-17T09:31:04.900Z",
      data: { challenge: "Jp2v0sX4Qk8mTz6bWc1yRn3dLh7fGa5eUo9iPq0xVtM" },
    },
  },
  WebhookChallengeAnswer: { value: { challenge: "Jp2v0sX4Qk8mTz6bWc1yRn3dLh7fGa5eUo9iPq0xVtM" } },
  WebhookTestBody: {
    value: {
      event: "endpoint.test",
      delivery_id,
      sequence: null,
      occurred_at: "2026-11-16T09:40:00.000Z",
      data: { webhook_endpoint: endpoint },
    },
  },
  StreamTicket: {
    value: {
      object: "stream_ticket",
      ticket: "Jp2v0sX4Qk8mTz6bWc1yRn3dLh7fGa5eUo9iPq0xVtM",
      expires_at: "2026-11-16T09:30:30.000Z",
    },
  },
  Liveness: { value: { status: "alive" } },
  Readiness: { value: { status: "ready", checks: { database: "up" } } },
};
