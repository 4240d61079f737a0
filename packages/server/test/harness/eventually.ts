import { setTimeout as sleep } from "node:timers/promises";

/** Most of what tests wait for takes a few milliseconds, so the first pauses are short. */
const pauseMinMs = 5;
const pauseMaxMs = 50;

/** Polls until the value is the expected one. It gives up late, because the machine may be busy with something else. */
export async function eventually<T>(
  ask: () => Promise<T> | T,
  isExpected: (value: T) => boolean,
  timeoutMs = 120_000,
): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (let pauseMs = pauseMinMs; ; pauseMs = Math.min(2 * pauseMs, pauseMaxMs)) {
    const value = await ask();
    if (isExpected(value)) return value;
    if (Date.now() > deadline) throw new Error(`still ${JSON.stringify(value)} after ${timeoutMs} ms`);
    await sleep(pauseMs);
  }
}
