import { takeTokens } from "@bursar/domain";
import type { QuotaClass } from "@bursar/protocol";
import { type ClientTraffic, stopReserve } from "./traffic.js";

/**
 * A request costs one token, and one more for each of these: bytes of its body, or of the response to a GET; items of a batch; clients of a
 * page. The rules of a policy are items too. They were measured: docs/decisions/0049-measured-costs.md has the numbers.
 */
export const requestCost = { bytesPerToken: 8192, itemsPerToken: 10, clientsPerToken: 5 } as const;

/**
 * Putting a policy in force costs as much as this many items, and each of its rules as much as two: it is compiled and compared. Reading
 * the log for limits that are not in force costs 20 tokens, and one for each limit.
 */
const policyItems = { toReplace: 80, ofRule: 2, rulesMax: 200, toReadLog: 200, ofLimit: 10 } as const;

/** The items of a policy document that has not been checked yet. */
function itemsOfPolicy(document: unknown): number {
  const rules =
    typeof document === "object" && document !== null && "rules" in document ? document.rules : [];
  return Array.isArray(rules) ? policyItems.ofRule * Math.min(rules.length, policyItems.rulesMax) : 0;
}

/** The items of a policy document to evaluate. Its limits may have to be summed over the log, in one pass for all of them. */
export function itemsToEvaluatePolicy(document: unknown): number {
  const limits = countLimits(document);
  const ofLimits = limits === 0 ? 0 : policyItems.toReadLog + policyItems.ofLimit * limits;
  return itemsOfPolicy(document) + ofLimits;
}

/**
 * The items of a log that was summed for limits. Each of them goes through all of its events: 4000 took as long as the token that a limit
 * costs before.
 */
export function itemsOfHistory(events: number, limits: number): number {
  const more = Math.max(0, events - historyOfLimit) * limits;
  return Math.floor((policyItems.ofLimit * more) / historyOfLimit);
}

const historyOfLimit = 4000;

/** A rule can have two of them. */
function countLimits(document: unknown): number {
  const rules = (document as { rules?: unknown } | null | undefined)?.rules;
  if (!Array.isArray(rules)) return 0;
  return rules.slice(0, policyItems.rulesMax).reduce<number>((count, rule) => {
    const when: unknown = (rule as { when?: unknown } | null)?.when;
    if (typeof when !== "object" || when === null) return count;
    return count + Number("sum" in when) + Number("count" in when);
  }, 0);
}

export function itemsToReplacePolicy(document: unknown): number {
  return policyItems.toReplace + itemsOfPolicy(document);
}

/**
 * A wallet on a chain costs 10 tokens: it was measured to use 14 ms, because the signer derives its address and keeps it in its journal.
 */
export function itemsToCreateWallet({ network }: { network?: string | undefined }): number {
  return network === undefined || network === "book" ? 0 : 90;
}

/** The items of a change to request, decide or cancel. Deciding on a policy reads, authenticates and compares all of it, also if it is refused. */
export function itemsOfChange({ kind, change }: { kind: string; change: unknown }): number {
  return kind === "policy.replace" ? itemsToReplacePolicy((change as { document?: unknown }).document) : 0;
}

/** The items of payments and orders: each limit in force is summed and counted for each of them. */
export function itemsOfPayments(count: number, limitsInForce: number): number {
  return count * (1 + Math.floor(limitsInForce / limitsPerItem));
}

const limitsPerItem = 10;

/**
 * The items of rows that were read and are not in the response: counted ones, and those that a filter has left out. 2000 of them take as long
 * as two or three requests.
 */
export function itemsOfScan(rows: number): number {
  return Math.floor(rows / scannedRowsPerItem);
}

const scannedRowsPerItem = 100;

/** The items of deliveries that are sent again: one of them takes as long as a request of one token. */
export function itemsOfResends(deliveries: number): number {
  return deliveries * requestCost.itemsPerToken;
}

export function costOfBytes(bytes: number): number {
  return Math.floor(bytes / requestCost.bytesPerToken);
}

export function costOfItems(items: number): number {
  return Math.floor(items / requestCost.itemsPerToken);
}

/**
 * Takes what a request costs from the quota of its client and then from that of its tenant. 0 admits the request; any other number is the
 * seconds to wait. The result is a promise only if the next slice of a quota is being reserved.
 */
export function takeQuota(
  traffic: ClientTraffic,
  request: { quotaClass: QuotaClass; canStop: boolean },
  nowMs: number,
  cost: number,
): number | Promise<number> {
  const own = traffic.allowances[request.quotaClass].take(nowMs, cost);
  if (own === 0) return takeFromTenant(traffic, request, nowMs, cost);
  if (typeof own === "number") return own;
  return own.then((waitSeconds) =>
    waitSeconds === 0 ? takeFromTenant(traffic, request, nowMs, cost) : waitSeconds,
  );
}

function takeFromTenant(
  traffic: ClientTraffic,
  { quotaClass, canStop }: { quotaClass: QuotaClass; canStop: boolean },
  nowMs: number,
  cost: number,
): number | Promise<number> {
  const { tenant, allowances } = traffic;
  const conclude = (waitSeconds: number) => {
    if (waitSeconds === 0 || (canStop && takeFromReserve(traffic, nowMs))) return 0;
    allowances[quotaClass].giveBack(cost);
    return waitSeconds;
  };
  const shared = tenant.allowances[quotaClass].take(nowMs, cost);
  if (shared === 0) return 0;
  return typeof shared === "number" ? conclude(shared) : shared.then(conclude);
}

/** What other clients have used of the tenant's quota must not keep a client from stopping them. */
function takeFromReserve(traffic: ClientTraffic, nowMs: number): boolean {
  const { granted, bucket } = takeTokens(stopReserve, traffic.reserve, nowMs, 1);
  traffic.reserve = bucket;
  return granted === 1;
}

/**
 * Takes what the body of an admitted request costs. 0 admits the body; any other number is the seconds to wait, because others of the same
 * client have brought its bucket into debt since. So clients that send many bodies at once exceed their quota by one of them, and a tenant's
 * quota is used by each client within its own.
 */
export function takeForBody(
  traffic: ClientTraffic,
  quotaClass: QuotaClass,
  nowMs: number,
  cost: number,
): number {
  const waitSeconds = traffic.allowances[quotaClass].debtSeconds(nowMs);
  if (waitSeconds === 0) chargeQuota(traffic, quotaClass, nowMs, cost);
  return waitSeconds;
}

/** Takes a cost that is known only after the request was admitted. */
export function chargeQuota(
  { tenant, allowances, counts }: ClientTraffic,
  quotaClass: QuotaClass,
  nowMs: number,
  cost: number,
): void {
  allowances[quotaClass].charge(nowMs, cost);
  tenant.allowances[quotaClass].charge(nowMs, cost);
  counts.cost += cost;
}

/**
 * Takes as much of a cost as the client has, and its tenant can spare: half of the tenant's burst is left to requests, because those are
 * refused when the bucket is empty, and this one only waits. Without `leavesHalf` it competes with requests for what is left. Returns the
 * tokens that were taken, and how long to wait if there are none. A process takes a tenth of the burst at once, as it would reserve.
 */
export function takeSpare(
  traffic: ClientTraffic,
  quotaClass: QuotaClass,
  nowMs: number,
  cost: number,
  leavesHalf: boolean,
): { taken: number; waitMs: number } {
  const debtMs = traffic.allowances[quotaClass].debtSeconds(nowMs) * 1000;
  if (debtMs > 0) return { taken: 0, waitMs: debtMs };
  const shared = traffic.tenant.allowances[quotaClass];
  const { burst, perSecond } = shared.quota();
  const spare = shared.remaining(nowMs) - (leavesHalf ? Math.floor(burst / 2) : 0);
  if (spare < 1) return { taken: 0, waitMs: ((1 - spare) * 1000) / perSecond };
  const taken = Math.min(cost, Math.floor(spare), Math.max(1, Math.floor(burst / 10)));
  chargeQuota(traffic, quotaClass, nowMs, taken);
  return { taken, waitMs: 0 };
}

/**
 * The values of `RateLimit-Policy` and `RateLimit`. The tenant's quota is listed too if less of it remains than of the client's own, so
 * that the smallest number is always shown.
 */
export function describeQuota(
  { tenant, allowances }: ClientTraffic,
  quotaClass: QuotaClass,
  nowMs: number,
): { policy: string; state: string } {
  const own = allowances[quotaClass];
  const shared = tenant.allowances[quotaClass];
  if (shared.remaining(nowMs) >= own.remaining(nowMs))
    return { policy: own.policy(), state: own.state(nowMs) };
  return {
    policy: `${own.policy()}, ${shared.policy()}`,
    state: `${own.state(nowMs)}, ${shared.state(nowMs)}`,
  };
}
