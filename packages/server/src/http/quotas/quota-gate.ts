import type { QuotaClass } from "@bursar/protocol";
import type { FastifyReply } from "fastify";
import type { LoadShedder } from "../../app/quotas/load-shedder.js";
import { chargeQuota, describeQuota, takeForBody, takeQuota } from "../../app/quotas/take-quota.js";
import type { ClientTraffic } from "../../app/quotas/traffic.js";
import { Refusal } from "../refusal.js";
import type { Route } from "../route.js";

/**
 * Admits a request within the quotas of its client and its tenant, and reports the remaining quota on every response in the headers of
 * draft-ietf-httpapi-ratelimit-headers. It runs before the body is read, so a refused request does not use its idempotency key. It takes one
 * token: what the body costs is taken when it has arrived, because a declared length is only a claim.
 */
export function admitByQuota(
  traffic: ClientTraffic,
  { quotaClass, canStop }: { quotaClass: QuotaClass; canStop: boolean },
  reply: FastifyReply,
  done: (refusal?: Error) => void,
): void {
  const conclude = (waitSeconds: number, nowMs: number) => {
    reportQuota(traffic, quotaClass, nowMs, reply);
    done(waitSeconds === 0 ? undefined : rateLimited(waitSeconds));
  };
  const nowMs = performance.now();
  const answer = takeQuota(traffic, { quotaClass, canStop }, nowMs, 1);
  if (typeof answer === "number") conclude(answer, nowMs);
  else answer.then((waitSeconds) => conclude(waitSeconds, performance.now())).catch(done);
}

/** Charges what a body costs that has arrived, or refuses it if its client is in debt. */
export function admitBodyByQuota(
  traffic: ClientTraffic,
  quotaClass: QuotaClass,
  cost: number,
  reply: FastifyReply,
): Refusal | undefined {
  if (cost === 0) return undefined;
  const nowMs = performance.now();
  const waitSeconds = takeForBody(traffic, quotaClass, nowMs, cost);
  reportQuota(traffic, quotaClass, nowMs, reply);
  return waitSeconds === 0 ? undefined : rateLimited(waitSeconds);
}

/**
 * Refuses a read whose client is in debt by the time it is its turn. The size of an answer is charged when it was made: without this, a client
 * that asks for hundreds of large ones at once gets all of them.
 */
export function refuseDebtor(
  traffic: ClientTraffic,
  quotaClass: QuotaClass,
  reply: FastifyReply,
): Refusal | undefined {
  const nowMs = performance.now();
  const waitSeconds = traffic.allowances[quotaClass].debtSeconds(nowMs);
  if (waitSeconds === 0) return undefined;
  reportQuota(traffic, quotaClass, nowMs, reply);
  return rateLimited(waitSeconds);
}

/** Charges what has turned out after the body was admitted: its items. */
export function chargeLater(
  traffic: ClientTraffic,
  quotaClass: QuotaClass,
  cost: number,
  reply: FastifyReply,
): void {
  if (cost === 0) return;
  const nowMs = performance.now();
  chargeQuota(traffic, quotaClass, nowMs, cost);
  reportQuota(traffic, quotaClass, nowMs, reply);
}

function reportQuota(
  traffic: ClientTraffic,
  quotaClass: QuotaClass,
  nowMs: number,
  reply: FastifyReply,
): void {
  const { policy, state } = describeQuota(traffic, quotaClass, nowMs);
  reply.header("ratelimit-policy", policy).header("ratelimit", state);
}

function rateLimited(waitSeconds: number): Refusal {
  return new Refusal("RATE_LIMITED", { headers: { "retry-after": String(waitSeconds) } });
}

type CountedRoute = Pick<Route, "method" | "path"> & { access: Exclude<Route["access"], "open"> };

/** The quota class of a route. It is decided here alone, from the route's method, path and scope. */
export function quotaClassOf({ method, path, access }: CountedRoute): QuotaClass {
  if (access === "oauth") return "auth";
  if (path.startsWith("/v1/stream")) return "stream";
  // Evaluating a policy costs as much as replacing it.
  if (isManaging(access)) return "manage";
  if (method === "GET") return "read";
  return path.endsWith("/batch") ? "bulk" : "create";
}

function isManaging(access: Exclude<CountedRoute["access"], "oauth">): boolean {
  if (typeof access !== "string") return access.some(isManaging);
  return access.endsWith(":manage") || access === "audit:read" || access === "policies:read";
}

/** Whether requests of this class create new work, which is refused in an overload. So are heavy requests of any class; stops are not. */
export function isNewWork(quotaClass: QuotaClass): boolean {
  return quotaClass === "create" || quotaClass === "bulk";
}

/** Whether requests to a route can be refused because of an overload. */
export function canBeShed({ method, path, access, bodyBytesMax, isStop }: Route): boolean {
  if (access === "open" || isStop !== undefined) return false;
  return bodyBytesMax !== undefined || isNewWork(quotaClassOf({ method, path, access }));
}

/** Sheds a request of a tenant that uses more than its share while the service is overloaded. */
export function shedLoad(load: Pick<LoadShedder, "sheds">, tenantId: string): Refusal | undefined {
  return load.sheds(tenantId) ? new Refusal("OVERLOADED", { headers: { "retry-after": "1" } }) : undefined;
}
