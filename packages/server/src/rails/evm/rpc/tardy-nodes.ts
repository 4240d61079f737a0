import type { Timers } from "../../../runtime/loops/timers.js";

/** Nodes that took too long for what they were asked alone, while others could have been asked. */
export interface TardyNodes {
  /** Whether it is asked after the others for now. */
  readonly isTardy: (name: string) => boolean;
  /** What the node answers, or what is said in the place of it if that takes too long. */
  readonly wait: <T>(name: string, answer: Promise<T>, late: () => T, waitedMs?: number) => Promise<T>;
}

/** Two nodes have less than the time after which a step counts as hung. */
const defaultWaitedMs = 45_000;
/** From here on another node is asked first: one that is always just in time would set the pace of everything. */
const slowMs = 5000;
const tardyMs = 600_000;

/**
 * Each request to a node has a timeout, but one call can need many: a node can refuse a batch, and then each part of it, just before each of them times
 * out. That took half an hour, in which the network stood still for all.
 */
export function createTardyNodes(timers: Pick<Timers, "after">, monotonicMs: () => number): TardyNodes {
  const until = new Map<string, number>();
  return {
    isTardy: (name) => monotonicMs() < (until.get(name) ?? Number.NEGATIVE_INFINITY),
    wait: (name, answer, late, waitedMs = defaultWaitedMs) =>
      new Promise((resolve, reject) => {
        const beganMs = monotonicMs();
        const seeTardy = () => void until.set(name, monotonicMs() + tardyMs);
        const cancel = timers.after(waitedMs, () => {
          seeTardy();
          resolve(late());
        });
        const end = () => {
          cancel();
          if (monotonicMs() - beganMs >= slowMs) seeTardy();
        };
        answer.finally(end).then(resolve, reject);
      }),
  };
}
