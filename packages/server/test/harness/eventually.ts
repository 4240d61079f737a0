import { setTimeout as sleep } from "node:timers/promises";

/** Asks again and again until the answer is what is expected; gives up after a long time, for a machine under load. */
export async function eventually<T>(
  ask: () => Promise<T> | T,
  isExpected: (value: T) => boolean,
  timeoutMs = 30_000,
): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const value = await ask();
    if (isExpected(value)) return value;
    if (Date.now() > deadline) throw new Error(`still ${JSON.stringify(value)} after ${timeoutMs} ms`);
    await sleep(50);
  }
}
