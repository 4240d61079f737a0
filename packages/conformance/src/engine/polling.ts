import type { Session } from "./session.js";

type Probe<T> = () => Promise<T | undefined>;

/** How a check waits for something: what it asks the target for, or what arrives by itself. */
export interface Polling {
  /** Asks the target again until there is an answer other than undefined, or the time has passed. The pauses grow. */
  readonly poll: <T>(timeoutMs: number, probe: Probe<T>) => Promise<T | undefined>;
  /** Looks again at what has arrived, without a request, until there is something or the time has passed. */
  readonly watch: <T>(timeoutMs: number, probe: Probe<T>) => Promise<T | undefined>;
}

const growth = 1.5;
/** All polling together may use this part of the requests that are left, if it lasts for the rest of the run. */
const requestShare = 0.5;
const pauseMaxMs = 5000;

export function createPolling(session: Session, wait: (durationMs: number) => Promise<void>): Polling {
  const { pollMs } = session.target.timing;

  async function repeat<T>(
    timeoutMs: number,
    probe: Probe<T>,
    pause: (last: number) => number,
  ): Promise<T | undefined> {
    const end = performance.now() + timeoutMs;
    for (let pauseMs = pollMs; ; pauseMs = pause(pauseMs)) {
      const value = await probe();
      const remainingMs = end - performance.now();
      if (value !== undefined || remainingMs <= 0) return value;
      session.pollers += 1;
      // The last question is asked when the time has passed.
      await wait(Math.min(pauseMs, remainingMs)).finally(() => {
        session.pollers -= 1;
      });
    }
  }

  return {
    poll: (timeoutMs, probe) =>
      repeat(timeoutMs, probe, (last) => Math.max(pollMs, Math.min(last * growth, paceMs(session)))),
    watch: (timeoutMs, probe) => repeat(timeoutMs, probe, (last) => last),
  };
}

/** The pause at which the requests suffice for the time that is left, however slow the target is. */
function paceMs({ bounds, exchanges, deadline, pollers }: Session): number {
  const requests = Math.max(1, bounds.requestsMax - exchanges.length);
  const remainingMs = deadline - performance.now();
  return Math.min(pauseMaxMs, ((pollers + 1) * remainingMs) / (requests * requestShare));
}
