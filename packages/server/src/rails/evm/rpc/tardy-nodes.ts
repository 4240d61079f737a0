import type { Timers } from "../../../runtime/loops/timers.js";

/** Nodes that took too long for what they were asked alone, while others could have been asked. */
export interface TardyNodes {
  /** Whether it is asked after the others for now. */
  readonly isTardy: (name: string) => boolean;
  /** What the node answers, or what is said in the place of it if that takes too long. */
  readonly wait: <T>(name: string, answer: Promise<T>, late: () => T) => Promise<T>;
}

/** Two nodes have less than the time after which a step counts as hung. */
const waitedMs = 45_000;
const tardyMs = 600_000;

/**
 * Each request to a node has a timeout, but one call can need many: a node can refuse a batch, and then each part of it, just before each of them times
 * out. That took half an hour, in which the network stood still for all.
 */
export function createTardyNodes(timers: Pick<Timers, "after">, monotonicMs: () => number): TardyNodes {
  const until = new Map<string, number>();
  return {
    isTardy: (name) => monotonicMs() < (until.get(name) ?? Number.NEGATIVE_INFINITY),
    wait: (name, answer, late) =>
      new Promise((resolve, reject) => {
        const cancel = timers.after(waitedMs, () => {
          until.set(name, monotonicMs() + tardyMs);
          resolve(late());
        });
        answer.then(resolve, reject).finally(cancel);
      }),
  };
}
