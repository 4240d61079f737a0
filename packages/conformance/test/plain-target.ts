import { checkTable } from "../src/checks/table.js";
import { registerEarly } from "../src/checks/webhooks/register-early.js";
import { type Check, profileNames } from "../src/engine/check.js";
import { type CheckResult, runChecks } from "../src/engine/run-checks.js";
import { createSession, defaultBounds } from "../src/engine/session.js";
import type { Target } from "../src/target/target.js";
import { startReceiver } from "../src/webhooks/receiver.js";
import type { FaultName } from "./faults/faults.js";
import { connectInMemory } from "./memory-connection.js";
import { forgottenMs, minuteMs } from "./servers/plain/plain-keys.js";
import { plainClient } from "./servers/plain/plain-oauth.js";
import { plainTokens, startPlainServer } from "./servers/plain/plain-server.js";
import { failingAmount } from "./servers/plain/plain-times.js";
import { retryScheduleMs } from "./servers/plain/plain-webhooks.js";

/** What the target file of the Plain server would say, with waits that suit a server in the same process. */
function plainTarget(url: string): Target {
  return {
    baseUrl: new URL(url),
    credentials: { token: plainTokens.own, ...plainClient },
    secondTenant: { token: plainTokens.second },
    revokedToken: plainTokens.revoked,
    transaction: { asset: "USD", amount: "1.15", fields: {} },
    exact: { asset: "ETH", amount: "0.010000000000000001" },
    refusedByPolicy: { amount: "5000" },
    fails: { amount: failingAmount },
    reference: {},
    wallet: { body: { name: "wallet-{run}" }, state: "state", finalStates: ["active"] },
    acceptedId: "body.id",
    shown: { state: "state", amount: "amount", asset: "asset", reference: "reference" },
    finalStates: ["completed", "failed"],
    webhooks: {
      register: { method: "POST", path: "/v1/webhook-endpoints", body: { url: "{url}" } },
      id: "body.id",
      secretAt: "body.secret",
      remove: { method: "DELETE", path: "/v1/webhook-endpoints/{id}" },
      signature: { scheme: "standard-webhooks" },
      items: {},
      messageSignatures: {
        algorithm: "hmac-sha256",
        secretEncoding: "base64",
        secretPrefix: "whsec_",
        keyId: "body.key_id",
        covers: ["content-digest", "webhook-id"],
        tag: "plain-v1",
      },
      rotate: { method: "POST", path: "/v1/webhook-endpoints/{id}/rotate", body: {} },
      retryScheduleMs,
      state: "data.transaction.state",
      amount: "body.data.transaction.amount",
      asset: "data.transaction.asset",
      reference: "data.transaction.reference",
    },
    signedRequests: {
      register: { method: "POST", path: "/v1/keys", body: { public_key: "{public_key}" } },
      id: "body.id",
      remove: { method: "DELETE", path: "/v1/keys/{id}" },
      covers: ["@method", "@target-uri", "authorization", "content-digest", "idempotency-key"],
      tag: "plain-v1",
    },
    stream: {
      path: "/v1/stream",
      subscribe: { type: "subscribe" },
      since: "since",
      subscribed: { type: "subscribed" },
      event: { type: "event" },
      sequence: "sequence",
      recovered: "recovered",
    },
    documents: {},
    timing: {
      requestMs: 10_000,
      pollMs: 5,
      resultMs: 4000,
      webhookMs: 4000,
      retryMs: 4000,
      visibleMs: 0,
      quietMs: 120,
      keyMs: forgottenMs + 50,
      revocationMs: 100,
      slowMs: minuteMs + 100,
    },
    statedTiming: new Set(["resultMs", "webhookMs", "retryMs", "visibleMs"]),
    profiles: profileNames,
  };
}

interface PlainRun {
  readonly seed?: number | undefined;
  readonly isSlow?: boolean;
  /** Whether the target file says how long things take at most. */
  readonly isTimingStated?: boolean;
  /** All, if they are not named. */
  readonly checks?: readonly Check[];
}

/** Runs the kit against a Plain server with these faults. */
export async function runPlain(
  active: readonly FaultName[],
  { seed, isSlow = true, isTimingStated = true, checks = checkTable }: PlainRun = {},
): Promise<CheckResult[]> {
  const receiver = await startReceiver({ host: "127.0.0.1", port: 0 });
  const server = await startPlainServer(active, () => connectInMemory(receiver.accept));
  try {
    const stated = plainTarget(server.url);
    const target = isTimingStated ? stated : { ...stated, statedTiming: new Set<never>() };
    const session = createSession({
      target,
      token: plainTokens.own,
      secondToken: plainTokens.second,
      limitedToken: plainTokens.limited,
      receiver,
      connect: () => connectInMemory(server.accept),
      bounds: defaultBounds,
    });
    return await runChecks(session, { checks, isSlow, seed, prepare: registerEarly });
  } finally {
    await receiver.close();
    await server.stop();
  }
}
