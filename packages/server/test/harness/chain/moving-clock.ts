import { nodeTimers } from "../../../src/runtime/loops/timers.js";

/** A clock that each timer moves, so that a wait takes no time in a test. */
export function createMovingClock() {
  const state = { nowMs: 0 };
  const after = (delayMs: number, work: () => void) => {
    state.nowMs += delayMs;
    return nodeTimers.after(0, work);
  };
  return { state, monotonicMs: () => state.nowMs, timers: { after } };
}
