import pLimit from "p-limit";
import type { Timers } from "../../../runtime/loops/timers.js";
import { answerBytesOf, mayBeLarge } from "./answers/answer-bytes.js";
import type { IsLogKept } from "./answers/log-filter.js";
import type { Cut } from "./answers/read-cut.js";
import {
  askedTooOften,
  createBatchSize,
  createCallInParts,
  type PartOutcome,
  requestsMax,
} from "./call-in-parts.js";
import { createJsonPost, type PostResult } from "./json-post.js";
import { type ReadResponse, type RpcOutcome, readResponse, type Unanswered } from "./read-response.js";
import { answerTooLarge, isAnswerTooLarge, isRateLimit, type RpcError } from "./rpc-error.js";

export interface RpcCall {
  readonly method: string;
  readonly params: readonly unknown[];
  /** Which logs of a receipt are needed: the others are dropped while they arrive. */
  readonly isLogKept?: IsLogKept | undefined;
  readonly cut?: Cut | undefined;
  /** Nobody waits for the answer any more. All calls of a batch have the same. */
  readonly givenUp?: AbortSignal | undefined;
}

/**
 * `strict`: one request after the other, so that the order stays. `foreign`: for calls whose duration somebody else decides, such as the
 * execution of a contract. If they take too long the node does not pause, because it may answer everything else. `brief`: such calls, which
 * also fail early.
 */
export type CallManner = "any" | "strict" | "foreign" | "brief";

/** One URL of a node. After a failure it pauses, twice as long each time. */
export interface RpcEndpoint {
  /** Its place in the configuration, because every part of its URL can be a secret. */
  readonly name: string;
  /** In the order given. While it pauses, or after a failure in between, calls are not sent. */
  readonly call: (calls: readonly RpcCall[], manner?: CallManner) => Promise<readonly RpcOutcome[]>;
  /** How long it still pauses; 0 if it can be called. */
  readonly pauseMs: () => number;
  readonly close: () => Promise<void>;
}

export interface RpcEndpointDeps {
  readonly name: string;
  readonly url: string;
  readonly timers: Pick<Timers, "after">;
  readonly monotonicMs: () => number;
  /** From 0 to 1: processes that failed together do not come back together. */
  readonly random: () => number;
  readonly timeoutMs?: number;
  readonly answerBytesMax?: number;
}

const defaultTimeoutMs = 10_000;
const defaultAnswerBytesMax = 32 * 1024 * 1024;
const briefTimeoutMs = 3000;
/** With these a node or a proxy can refuse a batch because of its size, whatever it says: drpc and 1rpc answer 500 to more than three calls. */
const refusingStatuses: ReadonlySet<number> = new Set([400, 403, 405, 413, 422, 500, 501]);
const abandoned = "nobody waits for it any more";

export function createRpcEndpoint(deps: RpcEndpointDeps): RpcEndpoint {
  const {
    name,
    url,
    timers,
    monotonicMs,
    timeoutMs = defaultTimeoutMs,
    answerBytesMax = defaultAnswerBytesMax,
  } = deps;
  const http = createJsonPost(url, { timeoutMs });
  const backOff = createBackOff(deps);
  const limit = pLimit(requestsMax);
  const size = createBatchSize(monotonicMs);
  let lastId = 0;

  /** One request. A single answer that is too large is an error of its call, and says nothing about the node. */
  async function exchange(
    calls: readonly RpcCall[],
    manner: CallManner,
  ): Promise<readonly PartOutcome[] | undefined> {
    const givenUp = calls[0]?.givenUp;
    const isGivenUp = () => givenUp?.aborted === true;
    if (isGivenUp()) return fail(calls, abandoned);
    if (backOff.pauseMs() > 0) return undefined;
    const firstId = lastId + 1;
    lastId += calls.length;
    const requests = calls.map(({ method, params }, index) => ({
      ...{ jsonrpc: "2.0", id: firstId + index, method, params },
    }));
    const ids = requests.map(({ id }) => id);
    const body = JSON.stringify(calls.length === 1 ? requests[0] : requests);
    const isForeign = manner === "foreign" || manner === "brief";
    const bytesMax = answerBytesOf(calls, answerBytesMax);
    const limits = {
      bytesMax,
      timeoutMs: manner === "brief" ? Math.min(briefTimeoutMs, timeoutMs) : timeoutMs,
      isLogKept: logsKeptOf(calls),
      cut: cutOf(calls),
      givenUp,
    };
    const posted = await http.post(body, limits);
    // That the request was ended says nothing about the node.
    if (isGivenUp()) return fail(calls, abandoned);
    const reading = readPosted(posted, ids, bytesMax);
    if ("failed" in reading) {
      if (reading.isTimeout === true && !isForeign) size.timedOut(calls.length);
      if (!isForeign) backOff.pause(reading.retryAfterMs);
      return fail(calls, reading.failed);
    }
    if ("refused" in reading) return calls.map(() => ({ unavailable: reading.refused, again: "refused" }));
    if ("limitedMs" in reading) {
      pauseForLimit(calls.length, calls.length, reading.limitedMs);
      return calls.map(() => limitedOutcome);
    }
    if ("tooLarge" in reading)
      return calls.length === 1 ? [{ error: reading.tooLarge }] : calls.map(() => unavailableAsLarge);
    const limited = reading.outcomes.filter((outcome) => outcome === limitedOutcome).length;
    if (limited > 0) pauseForLimit(calls.length, limited, 0);
    else backOff.reset();
    return reading.outcomes.map((outcome, index) => {
      // Some nodes bound the answer to a batch, and refuse those of its calls that it had no room for.
      const isTooLarge = calls.length > 1 && "error" in outcome && isAnswerTooLarge(outcome.error);
      return isTooLarge && mayBeLarge(calls[index] as RpcCall) ? unavailableAsLarge : outcome;
    });
  }

  type Reading =
    | { readonly outcomes: readonly PartOutcome[] }
    | { readonly refused: string }
    | { readonly limitedMs: number }
    | { readonly tooLarge: RpcError }
    | { readonly failed: string; readonly retryAfterMs: number; readonly isTimeout?: boolean };

  function readPosted(posted: PostResult, ids: readonly number[], bytesMax: number): Reading {
    if (posted.kind === "failed") return { failed: posted.reason, retryAfterMs: 0 };
    if (posted.kind === "timed_out") return { failed: posted.reason, retryAfterMs: 0, isTimeout: true };
    if (posted.kind === "too_large" && bytesMax < answerBytesMax)
      return { failed: `its answer has more than ${bytesMax} bytes`, retryAfterMs: 0 };
    if (posted.kind === "too_large") return { tooLarge: answerTooLarge(answerBytesMax) };
    const { status, retryAfterMs } = posted;
    if (status === 413) return { refused: "the request is too large" };
    if (status === 429) return { limitedMs: retryAfterMs };
    const read = readResponse(posted.text, ids, http.redact);
    // Some nodes give an error of JSON-RPC the status 400.
    const isAnswer = status === 200 || status === 400;
    if (isAnswer && "outcomes" in read) return { outcomes: read.outcomes.map(partOutcomeOf) };
    if (isAnswer && "refused" in read && isRateLimit(read.refused)) return { limitedMs: retryAfterMs };
    const failed = isAnswer && "malformed" in read ? read.malformed : explainStatus(status, read);
    const isRefusal = refusingStatuses.has(status) || !("malformed" in read);
    return ids.length > 1 && isRefusal ? { refused: failed } : { failed, retryAfterMs };
  }

  /** Of requests that were under way together, the first one counts. */
  function pauseForLimit(asked: number, limited: number, leastMs: number): void {
    if (backOff.pauseMs() > 0) return;
    // A longer pause is tried when neither a pause nor a smaller batch has helped.
    if (limited < asked || size.limited(asked)) backOff.reset();
    backOff.pause(leastMs, true);
  }

  return {
    name,
    call: createCallInParts({
      exchange: (calls, manner) => limit(() => exchange(calls, manner)),
      ...{ size, limitPauseMs: backOff.limitPauseMs, monotonicMs },
      sleep: (delayMs) => new Promise((resolve) => void timers.after(delayMs, resolve)),
    }),
    pauseMs: backOff.pauseMs,
    close: http.close,
  };
}

const unavailableAsLarge = { unavailable: "its answer is too large", again: "large" } as const;

const limitedOutcome = { unavailable: askedTooOften, again: "limited" } as const;

function partOutcomeOf(outcome: RpcOutcome | Unanswered): PartOutcome {
  if ("error" in outcome) return isRateLimit(outcome.error) ? limitedOutcome : outcome;
  if (!("refused" in outcome)) return outcome;
  const { refused } = outcome;
  return isRateLimit(refused) ? limitedOutcome : { unavailable: explainRefusal(refused), again: "refused" };
}

const explainRefusal = ({ message }: RpcError) => `it refused a batch: ${message}`;

function explainStatus(status: number, read: ReadResponse): string {
  if ("refused" in read && (status === 200 || status === 400)) return explainRefusal(read.refused);
  const [first] = "outcomes" in read ? read.outcomes : [];
  const error =
    "refused" in read ? read.refused : first !== undefined && "error" in first ? first.error : undefined;
  return `it answered with the HTTP status ${status}${error === undefined ? "" : `: ${error.message}`}`;
}

/** The logs that one of the calls needs. */
function logsKeptOf(calls: readonly RpcCall[]): IsLogKept | undefined {
  const kept = [...new Set(calls.flatMap(({ isLogKept }) => isLogKept ?? []))];
  return kept.length === 0 ? undefined : (log) => kept.some((isLogKept) => isLogKept(log));
}

/** What can be cut of the answers to all of the calls. Only blocks have lists of transactions. */
function cutOf(calls: readonly RpcCall[]): Cut | undefined {
  const cuts = new Set(calls.map(({ cut }) => cut));
  if (cuts.size === 1) return calls[0]?.cut;
  const isHeader = ({ method, cut }: RpcCall) =>
    cut === "transactions" || (cut === undefined && !method.startsWith("eth_getBlockBy"));
  return calls.every(isHeader) ? "transactions" : undefined;
}

function fail(calls: readonly RpcCall[], unavailable: string): readonly RpcOutcome[] {
  return calls.map(() => ({ unavailable }));
}

const firstPauseMs = 250;
const pauseMaxMs = 30_000;

function createBackOff({ monotonicMs, random }: Pick<RpcEndpointDeps, "monotonicMs" | "random">) {
  let failures = 0;
  let endsMs = Number.NEGATIVE_INFINITY;
  let isForLimit = false;
  const pauseMs = () => Math.max(0, endsMs - monotonicMs());
  return {
    pause: (leastMs: number, isLimit = false) => {
      const doubledMs = Math.min(pauseMaxMs, firstPauseMs * 2 ** Math.min(failures, 16));
      failures += 1;
      endsMs = monotonicMs() + Math.max(leastMs, doubledMs * (0.5 + random() / 2));
      isForLimit = isLimit;
    },
    reset: () => {
      failures = 0;
    },
    pauseMs,
    limitPauseMs: () => (isForLimit ? pauseMs() : undefined),
  };
}
