import { setTimeout as delay } from "node:timers/promises";

/** How many requests of the last moment are a crowd. One after the other, each waits, so there are fewer. */
const crowdMin = 5;
const momentMs = 25;

/** Resolves a moment later, to whether the request is one of many that have arrived at about the same time. */
export function createCrowd() {
  let recent = 0;
  return async (): Promise<boolean> => {
    recent += 1;
    setTimeout(() => {
      recent -= 1;
    }, momentMs * 3).unref();
    await delay(momentMs);
    return recent >= crowdMin;
  };
}

/** So long a request waits for others, also on a busy machine. */
const gatherMs = 120;

/**
 * For faults that requests cause which arrive together: each waits until as many are there, or some time has passed. Resolves to whether
 * they are, so the fault does not depend on how fast the machine is.
 */
export function createGathering() {
  const gathered = new Map<string, ((isComplete: boolean) => void)[]>();
  return (name: string, wanted: number): Promise<boolean> =>
    new Promise((resolve) => {
      const waiting = gathered.get(name) ?? [];
      gathered.set(name, waiting);
      waiting.push(resolve);
      const end = (isComplete: boolean) => {
        if (gathered.get(name) !== waiting) return;
        gathered.delete(name);
        for (const each of waiting) each(isComplete);
      };
      if (waiting.length === wanted) end(true);
      else if (waiting.length === 1) setTimeout(() => end(false), gatherMs);
    });
}
