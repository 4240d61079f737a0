import { contractCheck, expect, fail, NotOffered, profileCheck } from "../engine/check.js";
import type { Kit } from "../engine/kit.js";
import { showValue } from "../engine/name-value.js";
import { isObject } from "../http/reply.js";
import { itemOf } from "../webhooks/delivery-items.js";
import type { Delivery } from "../webhooks/receiver.js";
import { expectNoAccess } from "./access-checks.js";
import { expectOne } from "./keys/key-scenarios.js";
import { requestToken } from "./profiles/oauth-checks.js";
import { createTransaction, expectAccepted, settledTransaction, showTransaction } from "./scenarios.js";
import { stateOf } from "./transaction-state.js";
import { endpoint } from "./webhooks/webhook-endpoint.js";
import { isSameContent, refuseRenamed } from "./webhooks/webhook-retry-scenario.js";
import { webhookTimeoutCheck } from "./webhooks/webhook-timeout-check.js";

const writes = ["transaction"] as const;
/** A retry that is varied by a fifth is still on schedule. */
const variation = 0.2;

/** Waits until this much time has passed since a request, of which the other checks have used a part. */
async function waitSince(kit: Kit, startedAt: Date, durationMs: number): Promise<void> {
  await kit.sleep(Math.max(0, startedAt.getTime() + durationMs - Date.now()), durationMs);
}

/** Checks that wait long. They run together at the end, so none of them may need another. */
export const slowChecks = [
  profileCheck(
    "idempotency.minute",
    "idempotency",
    "IETF draft-ietf-httpapi-idempotency-key-header, section 2.3: keys expire after a published time",
    "A key is still remembered after a minute.",
    {
      needs: ["key.repeat.other-connection", "tx.get.result"],
      unlessFailed: ["key.repeat.final", "key.repeat.later", "key.repeat.each"],
      writes,
      slow: true,
    },
    async (kit) => {
      const { slowMs } = kit.target.timing;
      const first = await settledTransaction(kit);
      await waitSince(kit, first.reply.exchange.startedAt, slowMs);
      const second = await kit.create({ key: first.key, body: first.body });
      await expectOne(kit, first, second, `after the same request was sent ${slowMs} ms after the first`);
    },
  ),
  contractCheck(
    "tx.get.result-minute",
    "4.rule-4",
    "A final state is still the same after a minute.",
    { needs: ["tx.get.result-stays"], unlessFailed: ["key.repeat.unchanged"], writes, slow: true },
    async (kit) => {
      const { slowMs } = kit.target.timing;
      const settled = await settledTransaction(kit);
      await waitSince(kit, settled.shown.exchange.startedAt, slowMs);
      const shown = stateOf(kit.target, await showTransaction(kit, settled.id));
      expect(
        shown === settled.state,
        `the final state ${settled.state} still ${slowMs} ms later`,
        `the state ${showValue(shown)}`,
      );
    },
  ),
  profileCheck(
    "oauth.expiry",
    "oauth",
    "RFC 6749, section 5.1",
    "A token is not accepted after expires_in.",
    {
      needs: ["oauth.token", "access.none"],
      unlessFailed: ["access.garbage"],
      writes: ["transaction", "token"],
      slow: true,
    },
    async (kit) => {
      const issued = await requestToken(kit, "client_credentials", (secret) => secret);
      const { access_token: token, expires_in: lifetime } = isObject(issued.json) ? issued.json : {};
      const lifetimeMs = Number(lifetime) * 1000;
      const { slowMs, revocationMs } = kit.target.timing;
      if (typeof token === "string") kit.session.secrets.set(token, "$EXPIRED_TOKEN");
      if (!(lifetimeMs <= 2 * slowMs))
        throw new NotOffered(
          `A token lives for ${showValue(lifetime)} s, which is longer than --slow waits; issue shorter ones for this check.`,
        );
      const authorization = `Bearer ${String(token)}`;
      const { reply } = await kit.create({ authorization });
      expectAccepted(kit, reply, "a request with a token that was just issued");
      const { startedAt, durationMs } = issued.exchange;
      await waitSince(kit, startedAt, durationMs + lifetimeMs + revocationMs);
      const after = await kit.create({ authorization });
      await expectNoAccess(kit, after.reply, `a token ${lifetime} s after it was issued`);
    },
  ),
  profileCheck(
    "bursar.retry-schedule",
    "bursar",
    "Bursar's guide to receiving webhooks: retries after 5 s, 30 s and longer, each varied by up to 20 %.",
    "Notifications are retried on the documented schedule.",
    {
      needs: ["webhook.retry.same-id"],
      unlessFailed: ["standard-webhooks.once", "webhook.each.later"],
      writes: ["transaction", "webhook endpoint"],
      slow: true,
    },
    expectSchedule,
  ),
  webhookTimeoutCheck,
];

async function expectSchedule(kit: Kit): Promise<void> {
  const { receiver, webhooks } = await endpoint(kit);
  const { retryScheduleMs } = webhooks;
  if (retryScheduleMs === undefined)
    throw new NotOffered(
      "The target file does not name the schedule of retries (webhooks.retry_schedule_ms).",
    );
  const attempts: Delivery[] = [];
  // A late attempt of an earlier notification is none of these.
  const earlier = new Set(receiver.deliveries.map((one) => itemOf(one, "delivery_id")));
  receiver.answerWith(async (delivery) => {
    const [first] = attempts;
    if (earlier.has(itemOf(delivery, "delivery_id"))) return 204;
    if (first !== undefined && itemOf(first, "delivery_id") !== itemOf(delivery, "delivery_id")) return 204;
    attempts.push(delivery);
    return attempts.length <= retryScheduleMs.length ? 500 : 204;
  });
  await createTransaction(kit);
  const { webhookMs } = kit.target.timing;
  if ((await kit.watch(webhookMs, async () => attempts[0])) === undefined)
    fail("a notification of a transaction", "none");
  for (const [index, delayMs] of retryScheduleMs.entries()) {
    const latestMs = delayMs * (1 + variation) + webhookMs;
    const next = await kit.watch(latestMs, async () => attempts[index + 1]);
    const before = attempts[index];
    const wanted = `retry ${index + 1} after ${delayMs} ms, varied by up to ${variation * 100} %`;
    const renamed =
      next === undefined && before !== undefined && index > 0
        ? receiver.deliveries.find((one) => one.index > before.index && isSameContent(one, before))
        : undefined;
    if (renamed !== undefined && before !== undefined) refuseRenamed(before, renamed);
    if (next === undefined || before === undefined) fail(wanted, `none within ${latestMs} ms`);
    const afterMs = next.receivedAt.getTime() - before.receivedAt.getTime();
    expect(afterMs >= delayMs * (1 - variation) - 1, wanted, `it after ${afterMs} ms`);
  }
}
