import type { ShownExchange } from "./redact.js";

/** Exchanges that follow each other and say the same, as one. */
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
  let last = "";
  for (const [at, exchange] of exchanges.entries()) {
    const said = sayingOf(exchange);
    const group = groups.at(-1);
    const isJudged = exchange.judged === true;
    if (group === undefined || said !== last || exchange.method !== "GET" || exchange.concurrent === true)
      groups.push({ exchange, at, times: 1, isJudged, durationMs: exchange.duration_ms });
    else {
      const durationMs =
        Date.parse(exchange.started_at) + exchange.duration_ms - Date.parse(group.exchange.started_at);
      const times = group.times + 1;
      groups[groups.length - 1] = { ...group, times, isJudged: group.isJudged || isJudged, durationMs };
    }
    last = said;
  }
  return groups;
}

/** Headers of responses are left out: they have a date and a request id. */
function sayingOf({ method, url, request_headers, status, response_body, failure }: ShownExchange): string {
  const body = response_body?.replace(/("request_id"\s*:\s*")[^"]*/g, "$1");
  return JSON.stringify([method, url, request_headers, status, body, failure]);
}

export function timesOf({ times, durationMs, isJudged }: RepeatedExchange): string {
  const often = times === 1 ? "" : ` (${times} times in ${(durationMs / 1000).toFixed(1)} s)`;
  return `${often}${isJudged ? " <- seen" : ""}`;
}
