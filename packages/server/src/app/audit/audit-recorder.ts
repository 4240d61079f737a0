import type { AuditDraft, AuditStore } from "./audit-entry.js";

/**
 * Records refused attempts and issued tokens without delaying requests. Entries are buffered for a moment and written together, one
 * write at a time; equal refusals in the buffer become one entry with a count. The buffer is bounded, and so is the number of rows that
 * unauthenticated callers can cause: a flood costs some entries their detail, not disk or memory.
 */
export interface AuditRecorder {
  record: (draft: AuditDraft) => void;
  /** Writes the rest of the buffer, and stops. */
  close: () => Promise<void>;
}

export interface AuditRecorderOptions {
  store: AuditStore;
  onError: (error: unknown, lost: number) => void;
}

const flushDelayMs = 500;
const entriesMax = 1000;
/** Beyond this many kinds of anonymous attempts in one write, their addresses are no longer recorded. */
const anonymousMax = 10;

export function createAuditRecorder({ store, onError }: AuditRecorderOptions): AuditRecorder {
  let waiting = new Map<string, AuditDraft>();
  let anonymous = 0;
  let dropped = 0;
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> | undefined;

  function record(draft: AuditDraft): void {
    const isNew = draft.actor === "anonymous" && !waiting.has(kindOf(draft));
    add(isNew && anonymous >= anonymousMax ? { ...draft, address: null, object: null } : draft);
    schedule();
  }

  function add(draft: AuditDraft): void {
    const key = draft.outcome === "refused" ? kindOf(draft) : `${waiting.size} ${draft.requestId}`;
    const equal = waiting.get(key);
    if (equal !== undefined) waiting.set(key, { ...equal, repeated: equal.repeated + draft.repeated });
    else if (waiting.size < entriesMax) {
      waiting.set(key, draft);
      if (draft.actor === "anonymous") anonymous += 1;
    } else dropped += draft.repeated;
  }

  function schedule(): void {
    if (writing === undefined) timer ??= setTimeout(() => void flush(), flushDelayMs);
  }

  async function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    const drafts = [...waiting.values()];
    const lost = dropped;
    waiting = new Map();
    anonymous = 0;
    dropped = 0;
    if (lost > 0) onError(new Error("the buffer of the audit log is full"), lost);
    if (drafts.length === 0) return;
    writing = store.append(drafts).catch((error: unknown) => {
      // They are written with the next batch.
      for (const draft of drafts) add(draft);
      onError(error, 0);
    });
    await writing;
    writing = undefined;
    if (waiting.size > 0) schedule();
  }

  return {
    record,
    close: async () => {
      await writing;
      await flush();
      clearTimeout(timer);
      if (waiting.size > 0) onError(new Error("the service has stopped"), waiting.size);
    },
  };
}

/** Two refusals are equal if only their time and their request differ. */
function kindOf({ tenantId, clientId, tokenId, action, object, code, address }: AuditDraft): string {
  return JSON.stringify([tenantId, clientId, tokenId, action, object, code, address]);
}
