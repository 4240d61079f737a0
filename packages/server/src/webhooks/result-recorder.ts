import type { AttemptResult, HealthChange, SendingStore } from "../app/webhooks/sending.js";
import { createBatchSize, isolateFailingRows } from "../runtime/concurrency/isolate-failing-rows.js";
import type { Timers } from "../runtime/loops/timers.js";

interface Entry {
  result: AttemptResult;
  health: HealthChange | undefined;
  onRecorded: () => void;
  /** Neither the outcome nor the failure to record it could be written: the delivery is as it was before the attempt. */
  onLost: (error: unknown) => void;
}

/**
 * Records the outcomes of attempts, many in one commit: those that are reported while one batch is written are the next. Unlike in a group
 * commit, no caller waits for an answer, so it lingers, it writes one batch at a time, and it repeats a batch until the database takes it.
 */
export interface ResultRecorder {
  add: (entry: Entry) => void;
  /** False if so much waits to be recorded that no more should be sent. */
  hasRoom: () => boolean;
  /** Records what is left, once; what cannot be recorded is sent again by the next holder of its lease. */
  close: () => Promise<void>;
}

export interface ResultRecorderDeps {
  store: Pick<SendingStore, "recordResults" | "recordFailure">;
  onError: (error: unknown) => void;
  /** Called for a delivery whose outcome cannot be recorded. */
  onDeliveryFailed: (delivery: { tenantId: string; id: string }, error: unknown) => void;
  /** Whether an error means that the database is unavailable or timed out. */
  isUnavailable: (error: unknown) => boolean;
  now: () => number;
  timers: Pick<Timers, "after">;
}

const batchMax = 500;
const waitingMax = 5000;
/** A batch costs a commit whatever its size, and no caller waits for it. A sender that rests would commit each result by itself. */
const lingerMs = 25;
const pauseAfterErrorMs = 500;

export function createResultRecorder(deps: ResultRecorderDeps): ResultRecorder {
  const { store, onError, isUnavailable } = deps;
  /** The entries in the order in which they were added. */
  const waiting = new Set<Entry>();
  const size = createBatchSize(batchMax);
  let writing: Promise<void> | undefined;
  let isClosing = false;
  const pause = (ms: number) => new Promise<void>((resolve) => void deps.timers.after(ms, resolve));

  async function write(): Promise<void> {
    while (waiting.size > 0) {
      if (!isClosing) await pause(lingerMs);
      try {
        await isolateFailingRows([...waiting].slice(0, size.current()), record, {
          isUnavailable,
          onFailure: recordFailure,
        });
        size.grow();
      } catch (error) {
        onError(error);
        if (isClosing) return;
        size.shrink();
        await pause(pauseAfterErrorMs);
      }
    }
  }

  async function record(batch: readonly Entry[]): Promise<void> {
    await store.recordResults(
      batch.map(({ result }) => result),
      lastOfEach(batch),
    );
    for (const entry of batch) remove(entry);
  }

  /** The delivery is sent again later, which at-least-once allows; the alternative would be to lose its outcome without a trace. */
  async function recordFailure(entry: Entry, error: unknown): Promise<void> {
    const delivery = { tenantId: entry.result.lease.tenantId, id: entry.result.deliveryId };
    deps.onDeliveryFailed(delivery, error);
    await store.recordFailure(delivery, error, new Date(deps.now())).catch((second: unknown) => {
      if (isUnavailable(second)) throw second;
      entry.onLost(second);
    });
    remove(entry);
  }

  function remove(entry: Entry): void {
    waiting.delete(entry);
    entry.onRecorded();
  }

  function start(): Promise<void> {
    writing ??= write().finally(() => {
      writing = undefined;
    });
    return writing;
  }

  return {
    add: (entry) => {
      waiting.add(entry);
      if (!isClosing) void start();
    },
    hasRoom: () => waiting.size < waitingMax,
    close: async () => {
      isClosing = true;
      await writing;
      await start();
    },
  };
}

/** An endpoint's health may have changed more than once in a batch; the last change counts. */
function lastOfEach(batch: readonly Entry[]): HealthChange[] {
  const changes = new Map<string, HealthChange>();
  for (const { health } of batch)
    if (health !== undefined) changes.set(`${health.tenantId} ${health.endpointId}`, health);
  return [...changes.values()];
}
