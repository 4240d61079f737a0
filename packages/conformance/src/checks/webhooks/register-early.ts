import type { Check } from "../../engine/check.js";
import { emptyRecord } from "../../engine/exchange.js";
import { createKit } from "../../engine/kit.js";
import type { Session } from "../../engine/session.js";
import { isAccepted } from "../scenarios.js";
import { firstRequest } from "../transaction-checks.js";
import { endpoint } from "./webhook-endpoint.js";

/**
 * Registers the receiver after the first request of a run, if a check needs it: what is announced is the only evidence of a transaction
 * that no response has shown. What goes wrong is reported by the checks that use the same request and the same endpoint.
 */
export async function registerEarly(session: Session, checks: readonly Check[]): Promise<void> {
  if (!checks.some(({ level, writes }) => level === "contract" && writes.includes("webhook endpoint")))
    return;
  const recorded = emptyRecord();
  const kit = createKit(session, recorded);
  const reply = await firstRequest(kit).then(
    (first) => first.reply,
    () => undefined,
  );
  if (reply !== undefined && isAccepted(session.target, reply)) await endpoint(kit).catch(() => undefined);
  session.earlyWarnings.push(...recorded.warnings);
}
