import type { RpcOutcome } from "./read-response.js";
import type { CallManner, RpcCall } from "./rpc-endpoint.js";

/** `again`: the call was not answered in this batch, because the node refused the batch, or because the answer would have been too large. */
export type PartOutcome = RpcOutcome | { readonly unavailable: string; readonly again: "refused" | "large" };

export interface CallInPartsDeps {
  /** One request. Undefined if it was not sent, because the node pauses. */
  readonly exchange: (
    calls: readonly RpcCall[],
    manner: CallManner,
  ) => Promise<readonly PartOutcome[] | undefined>;
  readonly size: BatchSize;
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

/**
 * Sends calls in batches of as many as the node takes. What is refused or too large is sent again in halves. A batch that has timed out is not: a
 * node that does not answer at all would be waited for eight times. But the next batches are smaller.
 */
export function createCallInParts({ exchange, size, monotonicMs }: CallInPartsDeps) {
  return async (calls: readonly RpcCall[], manner: CallManner = "any"): Promise<readonly RpcOutcome[]> => {
    const outcomes: RpcOutcome[] = calls.map(() => ({ unavailable: "it pauses after a failure" }));
    const atOnce = manner === "strict" ? 1 : requestsMax;
    const open: Part[] = [{ places: calls.map((_, place) => place) }];
    const boundMs = dividedMs * Math.ceil(calls.length / batchMax / atOnce);
    let [beganMs, isDivided] = [undefined as number | undefined, false];

    function takeNext(): Part | undefined {
      const part = open.shift();
      if (part === undefined || part.places.length <= size.max()) return part;
      open.unshift({ ...part, places: part.places.slice(size.max()) });
      return { ...part, places: part.places.slice(0, size.max()) };
    }

    function giveUp({ places, refused }: Part): void {
      if (refused !== undefined) size.refused(places.length, refused.isLarge);
      for (const place of [places, ...open.splice(0).map((part) => part.places)].flat())
        outcomes[place] = { unavailable: "it takes too long for the parts of a batch" };
    }

    async function sendNext(part: Part): Promise<void> {
      beganMs ??= monotonicMs();
      if (isDivided && monotonicMs() - beganMs >= boundMs) return giveUp(part);
      const given = await exchange(
        part.places.map((place) => calls[place] as RpcCall),
        manner,
      );
      // What has an outcome keeps it, which says more.
      if (given === undefined) return;
      for (const [at, place] of part.places.entries()) outcomes[place] = finalOf(given[at] as PartOutcome);
      const again = partsToSend(part, given);
      isDivided ||= again.length > 0;
      open.unshift(...again);
      if (again.length > 0 || given.every((outcome) => "unavailable" in outcome)) return;
      // Only now is it known that the size was the reason.
      if (part.refused !== undefined) size.refused(part.refused.count, part.refused.isLarge);
      size.answered(part.places.length);
    }

    const sendInTurn = async () => {
      for (let part = takeNext(); part !== undefined; part = takeNext()) await sendNext(part);
    };
    await Promise.all(Array.from({ length: atOnce }, sendInTurn));
    return outcomes;
  };
}

/** What is sent again of a batch: the calls that were not answered, or its halves if none was. */
function partsToSend({ places }: Part, given: readonly PartOutcome[]): readonly Part[] {
  const isAgain = (outcome: PartOutcome | undefined) => outcome !== undefined && "again" in outcome;
  const unanswered = places.filter((_, at) => isAgain(given[at]));
  if (places.length < 2 || unanswered.length === 0) return [];
  const isLarge = given.some((outcome) => "again" in outcome && outcome.again === "large");
  const refused = { count: places.length, isLarge };
  if (unanswered.length < places.length) return [{ places: unanswered, refused }];
  const middle = Math.ceil(places.length / 2);
  return [places.slice(0, middle), places.slice(middle)].map((half) => ({ places: half, refused }));
}

function finalOf(outcome: PartOutcome): RpcOutcome {
  return "again" in outcome ? { unavailable: outcome.unavailable } : outcome;
}

export interface BatchSize {
  readonly max: () => number;
  /** A batch of so many calls was refused, or `isLarge`: its answer was too large, which other answers need not be. */
  readonly refused: (calls: number, isLarge: boolean) => void;
  readonly timedOut: (calls: number) => void;
  readonly answered: (calls: number) => void;
}

/** What a node has refused, or not answered in time, is not tried again at once: the timeout is lost each time. */
const keptSizeMs = 60_000;

/** As many calls as the node takes at once: half after a refusal or a timeout, one more after each success. */
export function createBatchSize(monotonicMs: () => number): BatchSize {
  let max = batchMax;
  let growsFromMs = Number.NEGATIVE_INFINITY;
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
    answered: (calls) => {
      if (calls === max && monotonicMs() >= growsFromMs) max = Math.min(batchMax, max + 1);
    },
  };
}
