import type { ShownExchange } from "./redact.js";

/** Exchanges that say the same, with nothing but other questions between them, as one. */
export interface RepeatedExchange {
  readonly exchange: ShownExchange;
  /** Its place in the list of commands. */
  readonly at: number;
  readonly times: number;
  /** Whether the outcome of the check is about one of them. */
  readonly isJudged: boolean;
  /** From the first of them to the answer of the last. */
  readonly durationMs: number;
}

/** While a check waits it asks the same again and again: a reader wants to see that once, with how often and how long. */
export function groupRepeated(exchanges: readonly ShownExchange[]): RepeatedExchange[] {
  const groups: RepeatedExchange[] = [];
  /** By the question: its last group, and what was answered. Other questions can be asked in between. */
  const asked = new Map<string, { place: number; said: string }>();
  for (const [at, exchange] of exchanges.entries()) {
    const isQuestion = exchange.method === "GET" && exchange.concurrent !== true;
    // What comes before a request that changes something is not what comes after it.
    if (!isQuestion) asked.clear();
    const question = JSON.stringify([exchange.url, exchange.request_headers]);
    const said = sayingOf(exchange);
    const last = asked.get(question);
    const group = last?.said === said ? groups[last.place] : undefined;
    const isJudged = exchange.judged === true;
    if (last === undefined || group === undefined) {
      groups.push({ exchange, at, times: 1, isJudged, durationMs: exchange.duration_ms });
      if (isQuestion) asked.set(question, { place: groups.length - 1, said });
      continue;
    }
    const durationMs =
      Date.parse(exchange.started_at) + exchange.duration_ms - Date.parse(group.exchange.started_at);
    const times = group.times + 1;
    groups[last.place] = { ...group, times, isJudged: group.isJudged || isJudged, durationMs };
  }
  return groups;
}

/** Headers of responses are left out: they have a date and a request id. */
function sayingOf({ status, response_body, failure }: ShownExchange): string {
  const body = response_body?.replace(/("request_id"\s*:\s*")[^"]*/g, "$1");
  return JSON.stringify([status, body, failure]);
}

export function timesOf({ times, durationMs, isJudged }: RepeatedExchange): string {
  const often = times === 1 ? "" : ` (${times} times in ${(durationMs / 1000).toFixed(1)} s)`;
  return `${often}${isJudged ? " <- seen" : ""}`;
}
