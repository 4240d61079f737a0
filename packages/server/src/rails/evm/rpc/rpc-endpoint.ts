import pLimit from "p-limit";
import { answerBytesOf, mayBeLarge } from "./answer-bytes.js";
import { createJsonPost, type PostResult } from "./json-post.js";
import type { IsLogKept } from "./log-filter.js";
import type { Cut } from "./read-cut.js";
import { type RpcOutcome, readResponse } from "./read-response.js";
import { answerTooLarge, isAnswerTooLarge, isRateLimit, type RpcError } from "./rpc-error.js";

export interface RpcCall {
  readonly method: string;
  readonly params: readonly unknown[];
  /** Which logs of a receipt are needed: the others are dropped while they arrive. */
  readonly isLogKept?: IsLogKept | undefined;
  readonly cut?: Cut | undefined;
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
  readonly monotonicMs: () => number;
  /** From 0 to 1: processes that failed together do not come back together. */
  readonly random: () => number;
  readonly timeoutMs?: number;
  readonly answerBytesMax?: number;
}

const defaultTimeoutMs = 10_000;
const defaultAnswerBytesMax = 32 * 1024 * 1024;
const briefTimeoutMs = 3000;
const batchMax = 100;
const requestsMax = 4;
/** How long the parts of a batch may take that was refused. The next batches are smaller, so that more of their parts are sent at once. */
const dividedMs = 30_000;
const askedTooOften = "it refuses for now, because it was asked too often";

export function createRpcEndpoint(deps: RpcEndpointDeps): RpcEndpoint {
  const {
    name,
    url,
    monotonicMs,
    timeoutMs = defaultTimeoutMs,
    answerBytesMax = defaultAnswerBytesMax,
  } = deps;
  const http = createJsonPost(url, { timeoutMs });
  const backOff = createBackOff(deps);
  const limit = pLimit(requestsMax);
  const size = createBatchSize(monotonicMs);
  let lastId = 0;

  /**
   * One request. A batch that is refused as a whole, or whose answer is too large, is sent again in halves. One that has timed out is not: a
   * node that does not answer at all would be waited for eight times. But the next batches are smaller. A single answer that is too large is an
   * error of its call, and says nothing about the node.
   */
  async function exchange(
    calls: readonly RpcCall[],
    manner: CallManner,
    beganMs = monotonicMs(),
  ): Promise<readonly RpcOutcome[]> {
    if (backOff.pauseMs() > 0) return fail(calls, "it pauses after a failure");
    if (monotonicMs() - beganMs >= dividedMs) {
      size.refused(calls.length);
      return fail(calls, "it takes too long for the parts of a batch");
    }
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
    };
    const reading = readPosted(await http.post(body, limits), ids, bytesMax);
    if ("failed" in reading) {
      if (reading.isTimeout === true && !isForeign) size.timedOut(calls.length);
      if (!isForeign || reading.failed === askedTooOften) backOff.pause(reading.retryAfterMs);
      return fail(calls, reading.failed);
    }
    if ("divide" in reading) {
      if (calls.length > 1) return await divide(calls, manner, beganMs);
      return reading.error === undefined ? fail(calls, reading.divide) : [{ error: reading.error }];
    }
    size.answered(calls.length);
    return await withoutTooLarge(calls, withoutRateLimits(reading.outcomes), { manner, beganMs });
  }

  async function divide(
    calls: readonly RpcCall[],
    manner: CallManner,
    beganMs: number,
  ): Promise<readonly RpcOutcome[]> {
    const middle = Math.ceil(calls.length / 2);
    size.refused(calls.length);
    return [
      ...(await exchange(calls.slice(0, middle), manner, beganMs)),
      ...(await exchange(calls.slice(middle), manner, beganMs)),
    ];
  }

  /** Some nodes bound the answer to a batch, and refuse those of its calls that it had no room for. */
  async function withoutTooLarge(
    calls: readonly RpcCall[],
    outcomes: readonly RpcOutcome[],
    { manner, beganMs }: { manner: CallManner; beganMs: number },
  ): Promise<readonly RpcOutcome[]> {
    const isRefused = outcomes.map(
      (outcome, index) =>
        "error" in outcome && isAnswerTooLarge(outcome.error) && mayBeLarge(calls[index] as RpcCall),
    );
    const refused = calls.filter((_, index) => isRefused[index]);
    if (calls.length === 1 || refused.length === 0) return outcomes;
    const again =
      refused.length < calls.length
        ? await exchange(refused, manner, beganMs)
        : await divide(refused, manner, beganMs);
    let next = 0;
    return outcomes.map((outcome, index) => (isRefused[index] ? (again[next++] as RpcOutcome) : outcome));
  }

  type Reading =
    | { readonly outcomes: readonly RpcOutcome[] }
    | { readonly divide: string; readonly error?: RpcError }
    | { readonly failed: string; readonly retryAfterMs: number; readonly isTimeout?: boolean };

  function readPosted(posted: PostResult, ids: readonly number[], bytesMax: number): Reading {
    if (posted.kind === "failed") return { failed: posted.reason, retryAfterMs: 0 };
    if (posted.kind === "timed_out") return { failed: posted.reason, retryAfterMs: 0, isTimeout: true };
    if (posted.kind === "too_large" && bytesMax < answerBytesMax)
      return { failed: `its answer has more than ${bytesMax} bytes`, retryAfterMs: 0 };
    if (posted.kind === "too_large")
      return { divide: "its answer is too large", error: answerTooLarge(answerBytesMax) };
    if (posted.status === 413) return { divide: "the request is too large" };
    const { status, retryAfterMs } = posted;
    if (status === 429) return { failed: askedTooOften, retryAfterMs };
    // Some nodes give an error of JSON-RPC the status 400.
    if (status !== 200 && status !== 400)
      return { failed: `it answered with the HTTP status ${status}`, retryAfterMs };
    const read = readResponse(posted.text, ids, http.redact);
    if ("malformed" in read) return { failed: read.malformed, retryAfterMs };
    if ("outcomes" in read) return read;
    if (isRateLimit(read.refused)) return { failed: askedTooOften, retryAfterMs };
    return { divide: `it refused a batch: ${read.refused.message}` };
  }

  function withoutRateLimits(outcomes: readonly RpcOutcome[]): readonly RpcOutcome[] {
    const isLimited = (outcome: RpcOutcome) => "error" in outcome && isRateLimit(outcome.error);
    if (!outcomes.some(isLimited)) {
      backOff.reset();
      return outcomes;
    }
    backOff.pause(0);
    return outcomes.map((outcome) => (isLimited(outcome) ? { unavailable: askedTooOften } : outcome));
  }

  return {
    name,
    call: async (calls, manner = "any") => {
      const parts: (readonly RpcCall[])[] = [];
      const sizeMax = size.max();
      for (let start = 0; start < calls.length; start += sizeMax)
        parts.push(calls.slice(start, start + sizeMax));
      if (manner !== "strict")
        return (await Promise.all(parts.map((part) => limit(() => exchange(part, manner))))).flat();
      const outcomes: RpcOutcome[] = [];
      for (const part of parts) outcomes.push(...(await limit(() => exchange(part, manner))));
      return outcomes;
    },
    pauseMs: backOff.pauseMs,
    close: http.close,
  };
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

/** A batch that the node did not answer in time costs all of the timeout, so the size is not tried out again at once. */
const keptSizeMs = 60_000;

/** As many calls as the node takes at once: half after a refusal or a timeout, one more after each success. */
function createBatchSize(monotonicMs: () => number) {
  let max = batchMax;
  let growsFromMs = Number.NEGATIVE_INFINITY;
  const refused = (calls: number) => {
    if (calls > 1) max = Math.min(max, Math.ceil(calls / 2));
  };
  return {
    max: () => max,
    refused,
    timedOut: (calls: number) => {
      refused(calls);
      growsFromMs = monotonicMs() + keptSizeMs;
    },
    answered: (calls: number) => {
      if (calls === max && monotonicMs() >= growsFromMs) max = Math.min(batchMax, max + 1);
    },
  };
}

const firstPauseMs = 250;
const pauseMaxMs = 30_000;

function createBackOff({ monotonicMs, random }: Pick<RpcEndpointDeps, "monotonicMs" | "random">) {
  let failures = 0;
  let endsMs = Number.NEGATIVE_INFINITY;
  return {
    pause: (leastMs: number) => {
      const doubledMs = Math.min(pauseMaxMs, firstPauseMs * 2 ** Math.min(failures, 16));
      failures += 1;
      endsMs = monotonicMs() + Math.max(leastMs, doubledMs * (0.5 + random() / 2));
    },
    reset: () => {
      failures = 0;
    },
    pauseMs: () => Math.max(0, endsMs - monotonicMs()),
  };
}
