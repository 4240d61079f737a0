import { profileNames } from "../engine/check.js";
import { findFailingOfBursar } from "./find-failing-of-bursar.js";
import { findRefusedByBursar } from "./find-refused-by-bursar.js";
import type { Target } from "./target.js";

/** The amounts are no whole number of cents as doubles: `1.15 * 100` is 114.99999999999999, so a program that cuts it off loses one. */
export type Preset = Omit<
  Target,
  "baseUrl" | "credentials" | "secondTenant" | "limited" | "revokedToken" | "timing" | "statedTiming"
> & {
  readonly timing: Partial<Target["timing"]>;
};

/** For a service of which nothing is known but the contract. */
const none: Preset = {
  transaction: { asset: "USD", amount: "1.15", fields: {} },
  reference: {},
  wallet: { body: {}, finalStates: [] },
  shown: {},
  finalStates: [],
  documents: {},
  timing: {},
  profiles: [],
};

/** Bursar says which it is in the header Bursar-Version; its address and credentials suffice. */
const bursar: Preset = {
  transaction: { asset: "USD", amount: "0.29", fields: {} },
  exact: { asset: "ETH", amount: "0.010000000000000001" },
  reference: {},
  wallet: { body: { name: "conformance-{run}", purpose: "payout" }, state: "state", finalStates: ["active"] },
  acceptedId: "body.id",
  shown: { id: "id", state: "state", amount: "amount", asset: "asset", reference: "reference" },
  finalStates: ["completed", "rejected", "failed", "cancelled"],
  webhooks: {
    register: {
      method: "POST",
      path: "/v1/webhook-endpoints",
      body: { url: "{url}", events: ["transaction.updated"], description: "conformance-{run}" },
    },
    id: "body.id",
    secretAt: "body.secret",
    activate: { method: "POST", path: "/v1/webhook-endpoints/{id}/verify", body: {} },
    remove: { method: "DELETE", path: "/v1/webhook-endpoints/{id}" },
    challenge: { event: "endpoint.challenge", answer: "data.challenge" },
    signature: { scheme: "standard-webhooks" },
    items: {},
    messageSignatures: {
      algorithm: "hmac-sha256",
      secretEncoding: "base64",
      secretPrefix: "whsec_",
      keyId: "body.key_id",
      covers: ["content-digest", "webhook-id", "webhook-timestamp"],
    },
    rotate: {
      method: "POST",
      path: "/v1/webhook-endpoints/{id}/rotate-secret",
      body: { overlap_seconds: 600 },
    },
    retryScheduleMs: [5000, 30_000],
    state: "data.transaction.state",
    amount: "data.transaction.amount",
    asset: "data.transaction.asset",
    reference: "data.transaction.reference",
  },
  findRefusedByPolicy: findRefusedByBursar,
  findFailing: findFailingOfBursar,
  signedRequests: {
    register: {
      method: "POST",
      path: "/v1/clients/{client_id}/keys",
      body: { algorithm: "ed25519", public_key: "{public_key}" },
    },
    id: "body.key.id",
    remove: { method: "DELETE", path: "/v1/clients/{client_id}/keys/{id}" },
    covers: ["@method", "@target-uri", "authorization", "content-digest", "idempotency-key"],
    tag: "bursar-v1",
  },
  stream: {
    path: "/v1/stream",
    protocol: "bursar.v1.json",
    subscribe: { type: "subscribe", channel: "events" },
    since: "since",
    subscribed: { type: "subscribed", channel: "events" },
    event: { type: "event", channel: "events" },
    sequence: "event.sequence",
    recovered: "recovered",
  },
  documents: {},
  timing: {
    pollMs: 50,
    resultMs: 20_000,
    webhookMs: 20_000,
    retryMs: 30_000,
    visibleMs: 0,
    revocationMs: 5500,
  },
  profiles: profileNames,
};

export const presets: Readonly<Record<string, Preset>> = { none, bursar };
