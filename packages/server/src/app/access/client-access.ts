import type { ApiClient } from "./client.js";

/** What must be known of a client to let its requests in. */
export interface ClientAccess {
  client: ApiClient | undefined;
  revokedTokenIds: ReadonlySet<string>;
}

/** Keeps what is known of clients for a few seconds, so that a request does not cost a query. */
export interface ClientAccessCache {
  /** What is known and recent enough; undefined where it must be asked for. */
  peek: (clientId: string) => ClientAccess | undefined;
  load: (clientId: string) => Promise<ClientAccess>;
  /** Forgets a client that this process has just changed. */
  forget: (clientId: string) => void;
}

/** From this age on it is asked for again, while requests go on with what is known. */
const refreshAgeMs = 2000;
/** From this age on nothing is let in on it. With the time of a query this keeps the promise of 5 s. */
const ageMaxMs = 4000;
const entriesMax = 10_000;

interface Entry {
  access: ClientAccess;
  readAtMs: number;
}

export function createClientAccessCache(
  read: (clientId: string) => Promise<ClientAccess>,
  nowMs: () => number,
): ClientAccessCache {
  const entries = new Map<string, Entry>();
  const pending = new Map<string, Promise<ClientAccess>>();

  function load(clientId: string): Promise<ClientAccess> {
    const running = pending.get(clientId);
    if (running !== undefined) return running;
    // What is read was true when the reading began, so its age counts from there.
    const readAtMs = nowMs();
    const reading = read(clientId)
      .then((access) => {
        // Not where the client was changed meanwhile: then this may be the old state.
        if (pending.get(clientId) === reading) remember(clientId, { access, readAtMs });
        return access;
      })
      .finally(() => {
        if (pending.get(clientId) === reading) pending.delete(clientId);
      });
    pending.set(clientId, reading);
    return reading;
  }

  function remember(clientId: string, entry: Entry): void {
    entries.delete(clientId);
    entries.set(clientId, entry);
    if (entries.size > entriesMax) entries.delete(entries.keys().next().value as string);
  }

  return {
    peek: (clientId) => {
      const entry = entries.get(clientId);
      if (entry === undefined) return undefined;
      const ageMs = nowMs() - entry.readAtMs;
      if (ageMs >= ageMaxMs) return undefined;
      // A refresh that fails is not lost: the next request asks again, and in the end waits for the answer.
      if (ageMs >= refreshAgeMs && !pending.has(clientId)) load(clientId).catch(() => undefined);
      return entry.access;
    },
    load,
    forget: (clientId) => {
      entries.delete(clientId);
      pending.delete(clientId);
    },
  };
}
