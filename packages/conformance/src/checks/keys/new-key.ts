import { CheckFailed } from "../../engine/check.js";
import type { Attempt, CreateOptions, Kit } from "../../engine/kit.js";
import type { Reply } from "../../http/reply.js";
import { keyIn } from "../every/run-transactions.js";
import { findId, isAccepted, sendValid } from "../scenarios.js";
import { createdInRun } from "../shown-members.js";

/** The check that any request with a new key can fail. */
export const newKeyCheck = "key.every";

/** Sends a request with a new key. What goes wrong with any request belongs to the checks that are about all of them. */
export async function sendNew(kit: Kit, options: CreateOptions): Promise<Attempt> {
  const attempt = await sendValid(kit, options);
  if (isAccepted(kit.target, attempt.reply)) expectNewKey(kit, attempt.reply);
  return attempt;
}

/**
 * Fails if a request was answered with the transaction of an earlier one, although key and body are others. The same body under two keys
 * is left to a check of its own: a business rule may refuse it.
 */
export function expectNewKey(kit: Kit, reply: Reply): void {
  const { target } = kit;
  const own = findId(target, reply)?.id;
  const { request, index } = reply.exchange;
  if (own === undefined) return;
  const earlier = createdInRun(kit).filter((one) => one.id === own && one.index < index);
  const other = earlier
    .map((one) => kit.session.exchanges[one.index])
    .find(
      (its) =>
        its !== undefined && keyIn(its.request) !== keyIn(request) && its.request.body !== request.body,
    );
  if (other === undefined) return;
  throw new CheckFailed(
    `a transaction of its own for the key ${keyIn(request)}`,
    `${own}, which the request with the key ${keyIn(other.request)} and another body has created (exchange ${other.index})`,
    newKeyCheck,
    reply,
  );
}
