import type { AuditDraft, AuditStore } from "./audit-entry.js";

/**
 * Writes down refused attempts and issued tokens without making anybody wait. Entries are collected for a moment and written
 * together; equal refusals in that moment become one entry with a count, so that a flood cannot fill the disk.
 */
export interface AuditRecorder {
  record: (draft: AuditDraft) => void;
  /** Writes what is left, and stops. */
  close: () => Promise<void>;
}

export interface AuditRecorderOptions {
  store: AuditStore;
  onError: (error: unknown, lost: number) => void;
}

const flushDelayMs = 500;
const entriesMax = 1000;

export function createAuditRecorder({ store, onError }: AuditRecorderOptions): AuditRecorder {
  let waiting = new Map<string, AuditDraft>();
  let dropped = 0;
  let timer: NodeJS.Timeout | undefined;
  let writing = Promise.resolve();

  function record(draft: AuditDraft): void {
    const key = draft.outcome === "refused" ? kindOf(draft) : `${waiting.size} ${draft.requestId}`;
    const equal = waiting.get(key);
    if (equal !== undefined) waiting.set(key, { ...equal, repeated: equal.repeated + 1 });
    else if (waiting.size < entriesMax) waiting.set(key, draft);
    else dropped += 1;
    timer ??= setTimeout(flush, flushDelayMs);
  }

  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    const drafts = [...waiting.values()];
    const lost = dropped;
    waiting = new Map();
    dropped = 0;
    if (lost > 0) onError(new Error("more kinds of attempts than the audit log takes in a moment"), lost);
    if (drafts.length === 0) return;
    writing = writing
      .then(() => store.append(drafts))
      .catch((error: unknown) => onError(error, drafts.length));
  }

  return {
    record,
    close: async () => {
      flush();
      await writing;
    },
  };
}

/** Two refusals are equal when only their time and their request differ. */
function kindOf({ tenantId, clientId, tokenId, action, object, code, address }: AuditDraft): string {
  return JSON.stringify([tenantId, clientId, tokenId, action, object, code, address]);
}
