/** Schedules work. Passed in, so that a test decides the order in which everything happens. */
export interface Timers {
  /** Runs the work at the end of this turn of the event loop. */
  soon: (work: () => void) => void;
  /** Runs the work after the delay. Returns a function that cancels it. */
  after: (delayMs: number, work: () => void) => () => void;
}

export const nodeTimers: Timers = {
  soon: (work) => void setImmediate(work),
  after: (delayMs, work) => {
    const timer = setTimeout(work, delayMs);
    return () => clearTimeout(timer);
  },
};
