/** A terminal and npm both send a signal for one Ctrl-C; npm does so within a few milliseconds. */
const sameKeyMs = 500;

const signals = ["SIGINT", "SIGTERM"] as const;

/**
 * The first signal ends the run in order, with its report and without what it has registered. A later one ends the process at once. Signals
 * that follow the first immediately are the same Ctrl-C.
 */
export function listenForInterruption(interrupted: AbortController): void {
  let firstAt: number | undefined;
  const onSignal = (signal: NodeJS.Signals) => {
    firstAt ??= performance.now();
    if (!interrupted.signal.aborted) interrupted.abort();
    else if (performance.now() - firstAt >= sameKeyMs) {
      for (const name of signals) process.off(name, onSignal);
      process.kill(process.pid, signal);
    }
  };
  for (const name of signals) process.on(name, onSignal);
}
