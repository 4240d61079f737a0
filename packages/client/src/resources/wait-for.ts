import { BursarError } from "../errors/bursar-error.js";
import type { Transaction } from "../generated/schemas.js";
import type { CallOptions } from "../transport/options.js";
import { sleep } from "../transport/runtime.js";
import type { ResultOf, Transport } from "../transport/transport.js";

export interface WaitOptions extends CallOptions {
  /** When to stop waiting. Defaults to a final state. */
  until?: (transaction: Transaction) => boolean;
  /** How long to wait in all. Defaults to 5 minutes. */
  waitMs?: number;
}

const finalStates: readonly Transaction["state"][] = ["completed", "rejected", "failed", "cancelled"];
const waitMsDefault = 5 * 60_000;
/** The longest that the service delays a response. */
const pollSecondsMax = 30;
const marginMs = 10_000;
/** Between two responses that came at once, from a service or a proxy that does not delay them. */
const pauseMs = 1000;

function isFinal({ state }: Pick<Transaction, "state">): boolean {
  return finalStates.includes(state);
}

export function waitFor(transport: Transport) {
  const { runtime } = transport;
  return async (id: string, options: WaitOptions = {}): Promise<ResultOf<"GET /v1/transactions/{id}">> => {
    const { until = isFinal, waitMs = waitMsDefault, ...own } = options;
    const endsAt = runtime.monotonicMs() + waitMs;
    let known = await transport.call("GET /v1/transactions/{id}", { path: { id } }, own);
    while (!until(known)) {
      const startedAt = runtime.monotonicMs();
      const leftMs = endsAt - startedAt;
      if (leftMs <= 0) throw tooLong(known, waitMs);
      const seconds = Math.max(1, Math.min(pollSecondsMax, Math.ceil(leftMs / 1000)));
      const etag = known.lastResponse.etag;
      const changed = await transport.callIfChanged(
        "GET /v1/transactions/{id}",
        {
          path: { id },
          headers: { Prefer: `wait=${seconds}`, ...(etag === undefined ? {} : { "If-None-Match": etag }) },
        },
        { ...own, timeoutMs: own.timeoutMs ?? seconds * 1000 + marginMs },
      );
      const isUnchanged = changed === undefined || changed.version === known.version;
      known = changed ?? known;
      if (until(known)) break;
      const spentMs = runtime.monotonicMs() - startedAt;
      // A change is what the request waited for, and the next one may follow at once.
      if (isUnchanged && spentMs < pauseMs)
        // If it is aborted, the next request says so.
        await sleep(runtime, Math.min(pauseMs, leftMs), own.signal).catch(() => undefined);
    }
    return known;
  };
}

function tooLong({ id, state }: Transaction, waitMs: number): BursarError<"TIMEOUT"> {
  return new BursarError({
    code: "TIMEOUT",
    message: `Transaction ${id} is still ${state} after ${waitMs} ms.`,
    outcome: "unknown",
    attempts: 1,
  });
}
