import type { WebhookEndpointStats } from "../resources/webhook-stats.js";
import { type Examples, lastPage } from "./example.js";
import { exampleIds } from "./example-ids.js";

const createdAt = "2026-10-17T09:30:00.000Z";
const url = "https://shop.example/hooks/bursar";
const secret = "whsec_ZXhhbXBsZS1zZWNyZXQtb2YtMzItYnl0ZXMtMTIzNDU2Nzg=";
const keyId = "whk_9f1c2b3a4d5e6f70";

export const endpoint = {
  id: exampleIds.endpoint,
  object: "webhook_endpoint",
  url,
  events: ["transaction.updated"],
  description: "The shop's receiver",
  client_id: exampleIds.client,
  state: "enabled",
  verified_at: "2026-10-17T09:31:05.000Z",
  disabled_reason: null,
  disabled_at: null,
  failing_since: null,
  old_secret_until: null,
  version: 2,
  created_by: exampleIds.client,
  created_at: createdAt,
  updated_at: "2026-10-17T09:31:05.000Z",
};

const unverified = { ...endpoint, state: "pending", verified_at: null, version: 1, updated_at: createdAt };

const disabled = {
  ...endpoint,
  state: "disabled",
  disabled_reason: "requested",
  disabled_at: "2026-11-16T09:40:00.000Z",
  version: 3,
  updated_at: "2026-11-16T09:40:00.000Z",
};

const delivery = {
  id: exampleIds.delivery,
  object: "webhook_delivery",
  endpoint_id: exampleIds.endpoint,
  event: "transaction.updated",
  sequence: 1042,
  state: "delivered",
  repeats: null,
  attempt_count: 1,
  last_status: 204,
  next_attempt_at: null,
  created_at: "2026-11-16T09:30:00.041Z",
  finished_at: "2026-11-16T09:30:00.160Z",
};

const attempt = {
  number: 1,
  at: "2026-11-16T09:30:00.075Z",
  status: 204,
  latency_ms: 85,
  error: null,
  answer: "",
};

const stats: WebhookEndpointStats = {
  object: "webhook_endpoint_stats",
  endpoint_id: exampleIds.endpoint,
  from: "2026-11-15T10:00:00.000Z",
  attempts: 40,
  delivered: 38,
  exhausted: 0,
  success_rate: 0.95,
  hours: [
    {
      start: "2026-11-16T09:00:00.000Z",
      attempts: 40,
      delivered: 38,
      exhausted: 0,
      latency_ms: 92,
      latency_ms_max: 640,
    },
  ],
  latency: { sample: 38, p50_ms: 85, p95_ms: 210, max_ms: 640 },
  pending: {
    count: 2,
    has_more: false,
    oldest_at: "2026-11-16T09:29:40.000Z",
    next_attempt_at: "2026-11-16T09:31:40.000Z",
  },
  resendable: { count: 0, has_more: false },
};

export const webhookExamples: Examples = {
  CreateWebhookEndpointBody: {
    value: { url, events: ["transaction.updated"], description: "The shop's receiver" },
  },
  CreatedWebhookEndpoint: { value: { ...unverified, secret, key_id: keyId } },
  ChangeWebhookEndpointBody: { value: { events: ["transaction.updated", "wallet.updated"] } },
  ChangedWebhookEndpoint: {
    value: {
      ...endpoint,
      events: ["transaction.updated", "wallet.updated"],
      version: 3,
      updated_at: "2026-11-16T09:40:00.000Z",
      secret: null,
      key_id: null,
    },
  },
  "WebhookEndpoint.enabled": { summary: "Enabled", value: endpoint },
  "WebhookEndpoint.disabled": { summary: "Disabled", value: disabled },
  "WebhookEndpoint.deleted": { summary: "Deleted", value: { ...endpoint, state: "deleted", version: 3 } },
  WebhookEndpointPage: lastPage(endpoint),
  WebhookVerification: {
    value: { webhook_endpoint: endpoint, verified: true, status: 200, error: null },
  },
  RotateWebhookSecretBody: { value: { overlap_seconds: 3600 } },
  RotatedWebhookSecret: {
    value: {
      webhook_endpoint: {
        ...endpoint,
        old_secret_until: "2026-11-16T10:40:00.000Z",
        version: 3,
        updated_at: "2026-11-16T09:40:00.000Z",
      },
      secret,
      key_id: keyId,
    },
  },
  WebhookTest: {
    value: {
      delivery_id: exampleIds.delivery,
      delivered: true,
      status: 204,
      latency_ms: 85,
      error: null,
      answer: "",
    },
  },
  WebhookDelivery: {
    value: {
      ...delivery,
      attempts: [attempt],
      request: {
        method: "POST",
        headers: {
          "content-type": "application/json",
          "webhook-id": exampleIds.delivery,
          "webhook-timestamp": "1794821400",
          "webhook-attempt": "1",
        },
        body: `{"event":"transaction.updated","delivery_id":"${exampleIds.delivery}","sequence":1042}`,
      },
    },
  },
  ResentWebhookDelivery: {
    value: {
      ...delivery,
      state: "pending",
      repeats: exampleIds.delivery,
      attempt_count: 0,
      last_status: null,
      finished_at: null,
      attempts: [],
    },
  },
  WebhookDeliveryPage: lastPage(delivery),
  ResendFailedBody: {
    value: { endpoint_id: exampleIds.endpoint, created_after: "2026-11-16T00:00:00Z" },
  },
  ResentDeliveries: { value: { resent: 12, has_more: false } },
  ReplayBody: { value: { endpoint_id: exampleIds.endpoint, from_sequence: 1000 } },
  ReplayedEvents: { value: { resent: 42, next_sequence: null } },
  ReplayCount: { value: { from_sequence: 1000, count: 42, has_more: false, last_sequence: 1042 } },
  WebhookEndpointStats: { summary: "An hour", value: stats },
};
