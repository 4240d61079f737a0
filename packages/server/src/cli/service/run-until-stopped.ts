import type { Settings } from "../../config/settings.js";
import { createLogger } from "../../log.js";
import { type Service, type ServiceOptions, startService } from "../../main.js";

const stopSignals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Runs the service until it is told to stop or cannot go on. A second signal ends it at once. */
export async function runUntilStopped(
  settings: Settings,
  options: Pick<ServiceOptions, "isSandbox" | "masterKey" | "seed">,
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
      endInTime(settings["limits.shutdown_timeout_ms"]);
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
        endInTime(settings["limits.shutdown_timeout_ms"]);
        stopping.abort(error);
      },
      signal: stopping.signal,
    });
    if (!stopping.signal.aborted) onReady?.(service);
    await stopped;
  } catch (error) {
    if (!isOurAbort(error, stopping.signal)) throw error;
    // The start was given up by the person, or because something it needs is lost for good.
    await stopped;
  } finally {
    if (service !== undefined) {
      await service.stop();
      log.info("stopped");
    }
  }
}

/** Whatever hangs, the process is gone in time; the database's keeper then stops the database. */
function endInTime(timeoutMs: number): void {
  setTimeout(() => process.exit(1), timeoutMs - 250).unref();
}

/** A start that waited for its database ends with an AbortError when the person gives up. */
function isOurAbort(error: unknown, signal: AbortSignal): boolean {
  return signal.aborted && (error as Error).name === "AbortError";
}
