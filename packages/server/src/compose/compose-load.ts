import type { AcceptQueue } from "../app/transactions/accept-queue.js";
import { createLoadGauge, type LoadGauge } from "../runtime/load-gauge.js";
import { nodeTimers } from "../runtime/loops/timers.js";
import type { ComposeOptions } from "./compose.js";

/** Whether the process has more work than it can do, by the age of what waits and its own use of the CPU. */
export function composeLoad(
  { settings, log }: Pick<ComposeOptions, "settings" | "log">,
  { oldestWaitMs, oldestWriteMs }: Pick<AcceptQueue, "oldestWaitMs" | "oldestWriteMs">,
): LoadGauge {
  return createLoadGauge({
    bounds: {
      acceptWaitMs: settings["limits.accept_wait_ms"],
      eventLoopDelayMs: settings["limits.event_loop_delay_ms"],
    },
    acceptWaitMs: oldestWaitMs,
    acceptWriteMs: oldestWriteMs,
    onChange: ({ isOverloaded, isSevere: _, ...signs }) =>
      isOverloaded
        ? log.warn(signs, "overloaded: new work is refused")
        : log.info(signs, "no longer overloaded"),
    monotonicMs: () => performance.now(),
    cpuMs: () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1000;
    },
    timers: nodeTimers,
  });
}
