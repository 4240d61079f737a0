/** When to do what is not to be done now. Passed in, so that a test can put everything that happens in an order of its own. */
export interface Timers {
  /** At the end of this turn of the event loop. */
  soon: (work: () => void) => void;
  /** After the time. The answer calls it off. */
  after: (delayMs: number, work: () => void) => () => void;
}

export const nodeTimers: Timers = {
  soon: (work) => void setImmediate(work),
  after: (delayMs, work) => {
    const timer = setTimeout(work, delayMs);
    return () => clearTimeout(timer);
  },
};
