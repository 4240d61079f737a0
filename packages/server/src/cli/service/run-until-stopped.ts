import type { Settings } from "../../config/settings.js";
import { createLogger } from "../../log.js";
import { type Service, type ServiceOptions, startService } from "../../main.js";

const stopSignals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Runs the service until a signal stops it or it fails. A second signal exits at once. */
export async function runUntilStopped(
  settings: Settings,
  options: Omit<ServiceOptions, "settings" | "log" | "onFailure" | "signal">,
  onReady?: (service: Service) => void,
): Promise<void> {
  const log = createLogger(settings.log_level, process.stdout.isTTY === true);
  const stopping = new AbortController();
  const stopped = new Promise<void>((resolve, reject) => {
    stopping.signal.addEventListener("abort", () => {
      const { reason } = stopping.signal;
      if (reason instanceof Error && !(reason instanceof DOMException)) reject(reason);
      else resolve();
    });
  });
  stopped.catch(() => undefined);

  for (const name of stopSignals) {
    process.on(name, () => {
      if (stopping.signal.aborted) process.exit(1);
      log.info({ signal: name }, "stopping");
      exitInTime(settings["limits.drain_delay_ms"] + settings["limits.shutdown_timeout_ms"]);
      stopping.abort();
    });
  }

  let service: Service | undefined;
  try {
    service = await startService({
      settings,
      log,
      ...options,
      onFailure: (error) => {
        exitInTime(settings["limits.shutdown_timeout_ms"]);
        stopping.abort(error);
      },
      signal: stopping.signal,
    });
    if (!stopping.signal.aborted) onReady?.(service);
    // After a failure there is nothing to drain: this throws.
    await stopped;
    await service.drain();
  } catch (error) {
    if (!isOurAbort(error, stopping.signal)) throw error;
    // The start was aborted by a signal, or by a failure that `stopped` rejects with.
    await stopped;
  } finally {
    if (service !== undefined) {
      await service.stop();
      log.info("stopped");
    }
  }
}

/** Exits in time even if something hangs; the supervisor of the embedded PostgreSQL then stops it. */
function exitInTime(timeoutMs: number): void {
  setTimeout(() => process.exit(1), timeoutMs - 250).unref();
}

/** A start that waits for its database rejects with an AbortError when it is aborted. */
function isOurAbort(error: unknown, signal: AbortSignal): boolean {
  return signal.aborted && (error as Error).name === "AbortError";
}
