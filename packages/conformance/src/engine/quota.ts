import { errorOf, type Reply } from "../http/reply.js";
import type { Target } from "../target/target.js";

/** Quotas: the contract expects clients to back off and retry. */

/** The status is open: besides 429, a code that says so, or a 503 that says when to come back. */
export function isRefusedByQuota({ quotaCode }: Target, reply: Reply): boolean {
  if (reply.status < 400) return false;
  if (reply.status === 429 || (reply.status === 503 && reply.header("retry-after") !== undefined))
    return true;
  const code = errorOf(reply)?.["code"];
  return typeof code === "string" && (code === quotaCode || usualQuotaCode.test(code));
}

const usualQuotaCode = /QUOTA|RATE_?LIMIT|THROTTL|TOO_MANY_REQUESTS|SLOW_DOWN/;

/** As Retry-After says; a second if it says nothing. */
export function retryAfterMs(reply: Reply): number {
  const text = reply.header("retry-after") ?? "1";
  const seconds = /^\d{1,6}$/.test(text) ? Number(text) : (Date.parse(text) - Date.now()) / 1000;
  return Number.isFinite(seconds) ? Math.max(0, seconds * 1000) : 1000;
}
