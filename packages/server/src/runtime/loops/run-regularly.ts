export interface RegularWork {
  intervalMs: number;
  /** Done one after the other, so that they take one connection to the database at a time. One that fails does not stop the others. */
  jobs: readonly (() => Promise<unknown>)[];
  onError: (error: unknown) => void;
}

/** Does the jobs at intervals, never beside themselves: a run that takes longer leaves out the next. Returns a function that stops it. */
export function runRegularly({ intervalMs, jobs, onError }: RegularWork): () => void {
  let isRunning = false;
  let isStopping = false;
  const run = async () => {
    if (isRunning) return;
    isRunning = true;
    for (const job of jobs) if (!isStopping) await job().catch(onError);
    isRunning = false;
  };
  const timer = setInterval(() => void run(), intervalMs).unref();
  return () => {
    isStopping = true;
    clearInterval(timer);
  };
}
