import { createRecentCache } from "../../runtime/recent-cache.js";

/** Notes when a secret or a key was last used: to the minute, and without delaying the request. */
export interface CredentialUses {
  record: (kind: CredentialKind, id: string) => void;
  /** Of a passkey, to the second: a person reads beside it when the decision was made. */
  recordPasskey: (id: string) => void;
  /** Writes the rest, and stops. */
  close: () => Promise<void>;
}

type CredentialKind = "secret" | "key";

export interface CredentialUse {
  kind: CredentialKind;
  id: string;
  usedAt: Date;
}

export interface CredentialUsesDeps {
  write: (uses: readonly CredentialUse[]) => Promise<void>;
  onError: (error: unknown) => void;
  now: () => number;
}

/** A credential in constant use costs one update a minute in each process. */
const intervalMs = 60_000;
const flushDelayMs = 1000;
const waitingMax = 1000;
const knownMax = 10_000;

export function createCredentialUses({ write, onError, now }: CredentialUsesDeps): CredentialUses {
  const written = createRecentCache<number>(knownMax);
  let waiting: CredentialUse[] = [];
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();

  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    const uses = waiting;
    waiting = [];
    // A use that could not be written is forgotten: the next one in a minute is as good.
    if (uses.length > 0) writing = writing.then(() => write(uses)).catch(onError);
  }

  function record(kind: CredentialKind, id: string, restMs: number): void {
    const nowMs = now();
    const lastMs = written.get(id);
    if ((lastMs !== undefined && nowMs - lastMs < restMs) || waiting.length >= waitingMax) return;
    written.set(id, nowMs);
    waiting.push({ kind, id, usedAt: new Date(nowMs) });
    timer ??= setTimeout(flush, flushDelayMs).unref();
  }

  return {
    record: (kind, id) => record(kind, id, intervalMs),
    recordPasskey: (id) => record("key", id, flushDelayMs),
    close: async () => {
      flush();
      await writing;
    },
  };
}
