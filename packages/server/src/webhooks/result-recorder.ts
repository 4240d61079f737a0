import type { AttemptResult, HealthChange, SendingStore } from "../app/webhooks/sending.js";
import type { Timers } from "../runtime/timers.js";

interface Entry {
  result: AttemptResult;
  health: HealthChange | undefined;
  onRecorded: () => void;
}

/** Writes down what came of attempts, many at once: what is reported while one batch is written is the next. */
export interface ResultRecorder {
  add: (entry: Entry) => void;
  /** False where so much waits to be written that no more should be sent. */
  hasRoom: () => boolean;
  /** Writes what is left, once; what cannot be written is sent again by whoever comes next. */
  close: () => Promise<void>;
}

export interface ResultRecorderDeps {
  store: Pick<SendingStore, "recordResults">;
  onError: (error: unknown) => void;
  /** Whether an error means that the database is away, or out of time. */
  isUnavailable: (error: unknown) => boolean;
  timers: Pick<Timers, "after">;
}

const batchMax = 500;
const waitingMax = 5000;
/** A batch costs a commit whatever its size; nobody waits for it, so a little gathering is free. */
const lingerMs = 5;
const pauseAfterErrorMs = 500;

export function createResultRecorder({
  store,
  onError,
  isUnavailable,
  timers,
}: ResultRecorderDeps): ResultRecorder {
  let waiting: Entry[] = [];
  let writing: Promise<void> | undefined;
  let isClosing = false;
  /** Less after an error, down to one: of what the database refuses for its own sake, the others must not wait for it. */
  let size = batchMax;
  const pause = (ms: number) => new Promise<void>((resolve) => void timers.after(ms, resolve));

  async function write(): Promise<void> {
    while (waiting.length > 0) {
      if (!isClosing) await pause(lingerMs);
      const batch = waiting.slice(0, size);
      try {
        await store.recordResults(
          batch.map(({ result }) => result),
          lastOfEach(batch),
        );
        waiting = waiting.slice(batch.length);
        size = Math.min(size * 2, batchMax);
        for (const { onRecorded } of batch) onRecorded();
      } catch (error) {
        onError(error);
        if (isClosing) return;
        if (size > 1) size = Math.ceil(size / 2);
        else if (!isUnavailable(error)) waiting.shift()?.onRecorded();
        await pause(pauseAfterErrorMs);
      }
    }
  }

  function start(): Promise<void> {
    writing ??= write().finally(() => {
      writing = undefined;
    });
    return writing;
  }

  return {
    add: (entry) => {
      waiting.push(entry);
      if (!isClosing) void start();
    },
    hasRoom: () => waiting.length < waitingMax,
    close: async () => {
      isClosing = true;
      await writing;
      await start();
    },
  };
}

/** An endpoint's health may have changed more than once in a batch; the last change is how it is. */
function lastOfEach(batch: readonly Entry[]): HealthChange[] {
  const changes = new Map<string, HealthChange>();
  for (const { health } of batch)
    if (health !== undefined) changes.set(`${health.tenantId} ${health.endpointId}`, health);
  return [...changes.values()];
}
