import type { Target } from "./target.js";

export type Preset = Omit<
  Target,
  "baseUrl" | "credentials" | "secondTenant" | "limited" | "revokedToken" | "timing"
> & {
  readonly timing: Partial<Target["timing"]>;
};

/** For a service of which nothing is known but the contract. */
const none: Preset = {
  transaction: { asset: "USD", amount: "1.01", fields: {} },
  wallet: { body: {}, finalStates: [] },
  shown: {},
  finalStates: [],
  timing: {},
  profiles: [],
};

/** Bursar says which it is in the header Bursar-Version; its address and credentials suffice. */
const bursar: Preset = {
  transaction: { asset: "USD", amount: "0.01", fields: {} },
  exact: { asset: "ETH", amount: "0.010000000000000001" },
  wallet: { body: { name: "conformance-{run}", purpose: "payout" }, state: "state", finalStates: ["active"] },
  acceptedId: "body.id",
  shown: { id: "id", state: "state", amount: "amount", reference: "reference" },
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
    state: "data.transaction.state",
  },
  timing: { pollMs: 50, revocationMs: 5500 },
  profiles: ["tenants", "idempotency", "standard-webhooks", "oauth", "ratelimit", "orderbook", "bursar"],
};

export const presets: Readonly<Record<string, Preset>> = { none, bursar };
