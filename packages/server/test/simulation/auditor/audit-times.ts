import { policyLimits } from "@bursar/domain";
import { periodSecondMs } from "../database/simulated-usage.js";
import type { Event } from "../world/exchange.js";
import type { Evidence } from "./auditor.js";

/**
 * How far two processes may disagree about the time: each knows the database's clock as well as the round trip in which it was read, and
 * the slowest takes a quarter of a second.
 */
const toleranceMs = 300;
const periodMs = policyLimits.periodSecondsMin * periodSecondMs;

/** Times against the clock on the wall of the world, which no process can see, and limits against the times in the log. */
export function auditTimes(evidence: Evidence): string[] {
  return [...auditCreation(evidence), ...auditEvents(evidence), ...auditLimit(evidence)];
}

/** Nothing was created before it was requested. */
function auditCreation({ closing, exchanges }: Evidence): string[] {
  return closing.transactions.flatMap(({ id, reference, created_at }) => {
    const sentMs = exchanges.flatMap(({ request, sentMs }) =>
      request.kind === "create" && request.body.reference === reference ? [sentMs] : [],
    );
    const isEarly = Date.parse(created_at) < Math.min(...sentMs) - toleranceMs;
    // A deposit is nobody's request.
    return isEarly && sentMs.length > 0
      ? [`${id} was created at ${created_at}, before it was requested`]
      : [];
  });
}

/** Nothing has happened in the future, and nothing long before what the log has before it. */
function auditEvents({ closing, endedMs }: Evidence): string[] {
  let latestMs = 0;
  return closing.events.flatMap(({ sequence, occurred_at }) => {
    const occurredMs = Date.parse(occurred_at);
    const isLate = occurredMs > endedMs + toleranceMs;
    // A statement can wait for locks between the reading of the clock and its commit.
    const isEarly = occurredMs < latestMs - toleranceMs - lockWaitMs;
    latestMs = Math.max(latestMs, occurredMs);
    return isLate || isEarly ? [`event ${sequence} has the wrong time ${occurred_at}`] : [];
  });
}

const lockWaitMs = 5000;

/** A limit is never exceeded, and refuses only what exceeds it. */
function auditLimit({ closing, transactionsMax }: Evidence): string[] {
  const finals = new Map(closing.transactions.map(({ id, state }) => [id, state]));
  const counted: { atMs: number; isKept: boolean }[] = [];
  return closing.events.flatMap((event) => {
    const decision = decisionOf(event);
    if (decision === undefined) return [];
    const { id, atMs } = decision;
    if (decision.isCounted) {
      counted.push({ atMs, isKept: finals.get(id) === "completed" });
      const recent = counted.filter((one) => one.isKept && one.atMs > atMs - periodMs + toleranceMs);
      return recent.length > (transactionsMax ?? Number.POSITIVE_INFINITY)
        ? [`${id} was allowed as number ${recent.length}, and the limit is ${transactionsMax}`]
        : [];
    }
    const recent = counted.filter((one) => one.atMs > atMs - periodMs - toleranceMs);
    return recent.length < (transactionsMax ?? Number.POSITIVE_INFINITY)
      ? [`${id} was rejected after ${recent.length}, and the limit is ${transactionsMax}`]
      : [];
  });
}

/** What was judged by an event, if anything was. */
function decisionOf({ data, occurred_at }: Event) {
  const { transaction, previous_state } = data;
  if (transaction === undefined || previous_state !== "accepted" || transaction.kind === "deposit")
    return undefined;
  const { id, state } = transaction;
  const isCounted = state === "processing" || state === "completed";
  return isCounted || state === "rejected" ? { id, isCounted, atMs: Date.parse(occurred_at) } : undefined;
}
