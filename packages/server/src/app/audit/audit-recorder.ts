import { createAuditBuffer, type TenantDrafts } from "./audit-buffer.js";
import type { AuditDraft, AuditStore, ClientOrigin } from "./audit-entry.js";

/**
 * Records what is too frequent for an audit entry of its own in the SQL transaction of the action: refused attempts, issued tokens,
 * and what clients create and cancel. Nothing waits for it. Entries are buffered for a moment and written together, one write at a
 * time. If the process is killed, the entries of that moment are lost; the objects themselves say which client has created them.
 */
export interface AuditRecorder {
  record: (draft: AuditDraft) => void;
  /** Records what a client did to an object: a map look-up and a push, because it is called for every created transaction. */
  recordAct: (origin: ClientOrigin, action: string, object: string) => void;
  /** Writes the rest of the buffer, and stops. */
  close: () => Promise<void>;
}

export interface AuditRecorderOptions {
  store: Pick<AuditStore, "append">;
  /** Called when entries could not be written. They are kept for the next write, except for those that are `lost`. */
  onError: (error: unknown, lost: number) => void;
  now: () => number;
}

const flushDelayMs = 500;
const closingTriesMax = 3;

export function createAuditRecorder({ store, onError, now }: AuditRecorderOptions): AuditRecorder {
  const buffer = createAuditBuffer();
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> | undefined;

  function schedule(): void {
    if (writing !== undefined) return;
    if (buffer.isUrgent()) void flush();
    else timer ??= setTimeout(() => void flush(), flushDelayMs);
  }

  async function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    const taken = buffer.take();
    if (taken.length === 0) return;
    writing = write(taken);
    await writing;
    writing = undefined;
    if (buffer.size() > 0) timer ??= setTimeout(() => void flush(), flushDelayMs);
  }

  /** One commit for all. If that fails, one for each tenant, so that a chain that is locked does not hold up the others. */
  async function write(taken: readonly TenantDrafts[]): Promise<void> {
    const all = taken.flatMap(({ drafts }) => drafts);
    try {
      await store.append(all);
    } catch (error) {
      if (taken.length === 1) return keepForNextWrite(all, error);
      for (const { drafts } of taken)
        await store.append(drafts).catch((cause: unknown) => keepForNextWrite(drafts, cause));
    }
  }

  function keepForNextWrite(drafts: readonly AuditDraft[], error: unknown): void {
    for (const draft of drafts) buffer.add(draft);
    onError(error, 0);
  }

  return {
    record: (draft) => {
      buffer.add(draft);
      schedule();
    },
    recordAct: (origin, action, object) => {
      buffer.addAct(origin, action, object, now());
      schedule();
    },
    close: async () => {
      await writing;
      for (let tries = 0; tries < closingTriesMax && buffer.size() > 0; tries++) await flush();
      clearTimeout(timer);
      if (buffer.size() > 0) onError(new Error("the service has stopped"), buffer.size());
    },
  };
}
