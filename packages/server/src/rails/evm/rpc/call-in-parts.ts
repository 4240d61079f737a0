import type { RpcOutcome } from "./read-response.js";
import type { CallManner, RpcCall } from "./rpc-endpoint.js";

/**
 * `again`: the call was not answered in this batch, because the node refused the batch, because the answer would have been too large, or because
 * the node was asked too often.
 */
export type PartOutcome =
  | RpcOutcome
  | { readonly unavailable: string; readonly again: "refused" | "large" | "limited" };

export interface CallInPartsDeps {
  /** One request. Undefined if it was not sent, because the node pauses. */
  readonly exchange: (
    calls: readonly RpcCall[],
    manner: CallManner,
  ) => Promise<readonly PartOutcome[] | undefined>;
  readonly size: BatchSize;
  /** How long the node still pauses because it was asked too often; undefined if it does not, or pauses after a failure. */
  readonly limitPauseMs: () => number | undefined;
  readonly sleep: (delayMs: number) => Promise<void>;
  readonly monotonicMs: () => number;
}

/** Some calls, by their places. */
interface Part {
  readonly places: readonly number[];
  /** How many calls the batch had that was refused, and why. */
  readonly refused?: { readonly count: number; readonly isLarge: boolean };
}

const batchMax = 100;
export const requestsMax = 4;
/** How long the parts of each hundred calls may take that were refused. The next batches are smaller, so that more of their parts are sent at once. */
const dividedMs = 30_000;
/** The same for all parts of what is to fail early. */
const briefDividedMs = 3000;
/** A longer pause is not waited for: other nodes can be asked meanwhile, and what is brief has no time for it. */
const [pauseMaxMs, briefPauseMaxMs] = [5000, 1000];
export const askedTooOften = "it refuses for now, because it was asked too often";

/**
 * Sends calls in batches of as many as the node takes. What is refused or too large is sent again in halves. A batch that has timed out is not: a
 * node that does not answer at all would be waited for eight times. But the next batches are smaller.
 *
 * What was asked too often is sent again after the pause, one request after the other, without the calls that were answered. Nodes count calls or
 * requests, and do not say which: so a batch is sent as it was once more, and then in halves. If it was left to the caller, more calls than the
 * node allows in a second would never be answered together.
 */
export function createCallInParts({ exchange, size, limitPauseMs, sleep, monotonicMs }: CallInPartsDeps) {
  return async (calls: readonly RpcCall[], manner: CallManner = "any"): Promise<readonly RpcOutcome[]> => {
    const outcomes: RpcOutcome[] = calls.map(() => ({ unavailable: "it pauses after a failure" }));
    const atOnce = manner === "strict" || size.isLimited() ? 1 : requestsMax;
    const open: Part[] = [{ places: calls.map((_, place) => place) }];
    const boundMs =
      manner === "brief" ? briefDividedMs : dividedMs * Math.ceil(calls.length / batchMax / atOnce);
    let [beganMs, isDivided, isLimited] = [undefined as number | undefined, false, false];
    // Contracts can have a batch refused, and must not make those of other calls small.
    const isSizeLearned = manner === "any" || manner === "strict";
    let senders = atOnce;

    function takeNext(): Part | undefined {
      const part = open.shift();
      if (part === undefined || part.places.length <= size.max()) return part;
      open.unshift({ ...part, places: part.places.slice(size.max()) });
      return { ...part, places: part.places.slice(0, size.max()) };
    }

    function giveUp({ places, refused }: Part): void {
      if (refused !== undefined && isSizeLearned) size.refused(places.length, refused.isLarge);
      for (const place of [places, ...open.splice(0).map((part) => part.places)].flat())
        outcomes[place] = {
          unavailable: isLimited ? askedTooOften : "it takes too long for the parts of a batch",
        };
    }

    /** Returns whether to go on. */
    async function waitForLimit(): Promise<boolean> {
      const pauseMs = limitPauseMs();
      if (pauseMs !== undefined && pauseMs <= (manner === "brief" ? briefPauseMaxMs : pauseMaxMs)) {
        await sleep(pauseMs);
        return true;
      }
      // What has an outcome keeps it, which says more than that it was not sent.
      open.length = 0;
      return false;
    }

    async function sendNext(part: Part): Promise<"next" | "wait" | "end"> {
      beganMs ??= monotonicMs();
      if ((isDivided || isLimited) && monotonicMs() - beganMs >= boundMs) {
        giveUp(part);
        return "end";
      }
      const given = await exchange(
        part.places.map((place) => calls[place] as RpcCall),
        manner,
      );
      if (given === undefined) {
        open.unshift(part);
        isLimited ||= limitPauseMs() !== undefined;
        return "wait";
      }
      for (const [at, place] of part.places.entries()) outcomes[place] = finalOf(given[at] as PartOutcome);
      const again = partsToSend(part, given);
      open.unshift(...again);
      if (given.some(isLimitedOutcome)) {
        isLimited = true;
        return "wait";
      }
      isDivided ||= again.length > 0;
      if (again.length > 0 || given.every((outcome) => "unavailable" in outcome)) return "next";
      // Only now is it known that the size was the reason.
      if (part.refused !== undefined && isSizeLearned) size.refused(part.refused.count, part.refused.isLarge);
      size.answered(part.places.length);
      return "next";
    }

    const sendInTurn = async () => {
      for (let part = takeNext(); part !== undefined; part = takeNext()) {
        const then = await sendNext(part);
        if (then === "next") continue;
        // The last sender waits. Several can meet the pause in the same turn, so each is counted before it looks.
        senders -= 1;
        if (then === "end" || senders > 0 || !(await waitForLimit())) return;
        senders += 1;
      }
      senders -= 1;
    };
    await Promise.all(Array.from({ length: atOnce }, sendInTurn));
    return outcomes;
  };
}

/** What is sent again of a batch: the calls that were not answered, or its halves if none was. */
function partsToSend({ places, refused }: Part, given: readonly PartOutcome[]): readonly Part[] {
  const isAgain = (outcome: PartOutcome | undefined) => outcome !== undefined && "again" in outcome;
  const unanswered = places.filter((_, at) => isAgain(given[at]));
  if (unanswered.length === 0) return [];
  if (given.some(isLimitedOutcome))
    return [{ places: unanswered, ...(refused === undefined ? {} : { refused }) }];
  if (places.length < 2) return [];
  const isLarge = given.some((outcome) => "again" in outcome && outcome.again === "large");
  const whole = { count: places.length, isLarge };
  if (unanswered.length < places.length) return [{ places: unanswered, refused: whole }];
  const middle = Math.ceil(places.length / 2);
  return [places.slice(0, middle), places.slice(middle)].map((half) => ({ places: half, refused: whole }));
}

function isLimitedOutcome(outcome: PartOutcome): boolean {
  return "again" in outcome && outcome.again === "limited";
}

function finalOf(outcome: PartOutcome): RpcOutcome {
  return "again" in outcome ? { unavailable: outcome.unavailable } : outcome;
}

export interface BatchSize {
  readonly max: () => number;
  /** A batch of so many calls was refused, or `isLarge`: its answer was too large, which other answers need not be. */
  readonly refused: (calls: number, isLarge: boolean) => void;
  readonly timedOut: (calls: number) => void;
  /** The node was asked too often, with a batch of so many calls. Returns whether the next ones are smaller for that. */
  readonly limited: (calls: number) => boolean;
  /** Whether the node was asked too often in the last minute. */
  readonly isLimited: () => boolean;
  readonly answered: (calls: number) => void;
}

/** What a node has refused, or not answered in time, is not tried again at once: the timeout is lost each time. */
const keptSizeMs = 60_000;

/** As many calls as the node takes at once: half after a refusal or a timeout, one more after each success. */
export function createBatchSize(monotonicMs: () => number): BatchSize {
  let max = batchMax;
  let growsFromMs = Number.NEGATIVE_INFINITY;
  let limitedUntilMs = Number.NEGATIVE_INFINITY;
  /** The size of the last batch that was limited, unless one as large was answered since. */
  let limitedSize = Number.POSITIVE_INFINITY;
  const halve = (calls: number) => {
    if (calls > 1) max = Math.min(max, Math.ceil(calls / 2));
  };
  const keep = (calls: number) => {
    halve(calls);
    growsFromMs = monotonicMs() + keptSizeMs;
  };
  return {
    max: () => max,
    refused: (calls, isLarge) => (isLarge ? halve(calls) : keep(calls)),
    timedOut: keep,
    limited: (calls) => {
      limitedUntilMs = monotonicMs() + keptSizeMs;
      const isAgain = calls > 1 && calls >= limitedSize;
      if (isAgain) keep(calls);
      limitedSize = Math.min(calls, max);
      return isAgain;
    },
    isLimited: () => monotonicMs() < limitedUntilMs,
    answered: (calls) => {
      if (calls >= limitedSize) limitedSize = Number.POSITIVE_INFINITY;
      if (calls === max && monotonicMs() >= growsFromMs) max = Math.min(batchMax, max + 1);
    },
  };
}
