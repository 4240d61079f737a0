import { fail } from "../../engine/check.js";
import type { Kit } from "../../engine/kit.js";
import { isRefusedByQuota } from "../../engine/quota.js";
import { isOfGateway, isServerFailure } from "../../http/find-gateway.js";
import { describeReply, isRefusal, type Reply } from "../../http/reply.js";
import { unknownTransaction } from "../transaction-checks.js";
import { finalIn, readsOf, sentInRun } from "./run-transactions.js";

const arrivedAt = ({ exchange }: Reply) => exchange.startedAt.getTime() + exchange.durationMs;

/** Statuses that are about the caller, not about the transaction. */
const ofCaller = [401, 403];

/**
 * Looks at every GET of the run. One that came before the first with 200 may be refused, as long as it is not the server that fails. A replica can be behind another one for as long as a change may take to be
 * visible, which the contract does not say: a transaction that is not found again is a failure if its result was shown before, or later than
 * the target file says. A failure of the server is one at any time, except that 503
 * can say that a transaction is not there yet.
 */
export async function expectFoundAgain(kit: Kit): Promise<void> {
  const { timing, statedTiming } = kit.target;
  const unknown = await unknownTransaction(kit).then(({ reply }) => reply.status);
  const isUnknown = ({ status }: Reply) => status === 404 || status === 410 || status === unknown;
  const isWrong = (reply: Reply) =>
    isRefusal(reply) &&
    !reply.exchange.request.isConcurrent &&
    !isOfGateway(reply.exchange) &&
    !isRefusedByQuota(kit.target, reply) &&
    !ofCaller.includes(reply.status) &&
    (isUnknown(reply) || reply.status >= 500);
  const isFailure = (reply: Reply) => isWrong(reply) && !isUnknown(reply) && isServerFailure(reply.exchange);
  const early: string[] = [];
  for (const { id } of sentInRun(kit)) {
    const reads = readsOf(kit, id);
    const first = reads.findIndex((one) => one.status === 200 && !isRefusal(one));
    const shown = reads[first];
    const failed = reads.slice(0, first < 0 ? undefined : first).find(isFailure);
    if (failed !== undefined)
      fail(
        `status 200 for ${id}, or at first what an unknown id is refused with`,
        describeReply(failed),
        failed,
      );
    if (shown === undefined) continue;
    for (const [at, reply] of reads.entries()) {
      if (at < first || !isWrong(reply)) continue;
      const isSettled = reads.slice(0, at).some((one) => finalIn(kit, one) !== undefined);
      const afterMs = reply.exchange.startedAt.getTime() - arrivedAt(shown);
      const isLate =
        (statedTiming.has("visibleMs") && afterMs > timing.visibleMs) ||
        (statedTiming.has("resultMs") && afterMs > timing.resultMs);
      if (isUnknown(reply) && !isSettled && !isLate) early.push(id);
      else fail(`status 200 for ${id} at every GET after it was shown with 200`, describeReply(reply), reply);
    }
  }
  if (early.length > 0)
    kit.warn(
      `GET has shown ${early[0]} and did not find it at a later request${early.length > 1 ? `, and ${early.length - 1} more times` : ""}. The contract does not say how soon a transaction can be read everywhere; if it can be read for good when it was shown once, state timing.visible_ms: 0 in the target file, and this is a failure.`,
    );
}
