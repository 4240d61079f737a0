import type {
  ClaimedDelivery,
  ParkedDelivery,
  ReceiverStore,
  StoredDelivery,
} from "../receiver/receiver-store.js";
import { openJournalFile } from "./journal-file.js";

export interface JournalStore extends ReceiverStore<undefined> {
  close: () => Promise<void>;
}

export interface JournalOptions {
  /** How long the id of a delivery that is done is remembered. It must be longer than the service retries. Defaults to 8 days. */
  retentionMs?: number;
  /** How many lines are written before the file is compacted. Defaults to 10,000. */
  compactAfterLines?: number;
}

type State = "pending" | "processed" | "stale" | "skipped" | "parked";

interface Entry extends ClaimedDelivery {
  state: State;
  error: string;
  nextAttemptAtMs: number;
  savedAtMs: number;
}

/** A line of the file: a delivery, a change of one, or what stays of those that are forgotten. */
type Line =
  | { save: Entry }
  | { change: string; to: Partial<Entry> }
  | { version: number; of: string }
  | { knownTo: number; epoch: string };

const day = 24 * 60 * 60_000;

/**
 * Keeps deliveries in a file, for one process, and processes each at least once. A delivery is on the disk before it is processed, but what
 * the handler does is no part of the file, so both cannot be committed together: if the process dies between the handler and the mark, the
 * handler is called once more with the same delivery.
 */
export async function openJournalStore(path: string, options: JournalOptions = {}): Promise<JournalStore> {
  const { retentionMs = 8 * day, compactAfterLines = 10_000 } = options;
  const file = await openJournalFile(path);
  const entries = new Map<string, Entry>();
  const known = new Map<string, string>();
  const versions = new Map<string, number>();
  const knownTo = new Map<string, number>();
  const busy = new Map<string, Promise<unknown>>();
  let lines = file.entries.length;
  let linesKept = 0;
  let writing: Promise<void> = Promise.resolve();
  for (const line of file.entries as Line[]) apply(line);

  function apply(line: Line): void {
    if ("version" in line) raise(versions, line.of, line.version);
    else if ("knownTo" in line) raise(knownTo, line.epoch, line.knownTo);
    else applyTo(line);
  }

  function applyTo(line: Extract<Line, { save: Entry } | { change: string }>): void {
    const entry = "save" in line ? line.save : entries.get(line.change);
    if (entry === undefined) return;
    if ("change" in line) Object.assign(entry, line.to);
    entries.set(entry.id, entry);
    known.set(entry.eventKey, entry.id);
    const { subject, version, epoch, state } = entry;
    if (state === "processed" && subject !== null && version !== null)
      raise(versions, `${epoch}/${subject}`, version);
  }

  /** Lines are written one after the other, and count when they are on the disk. */
  function record(line: Line): Promise<void> {
    const written = writing.then(async () => {
      await file.append([line]);
      lines += 1;
      apply(line);
    });
    writing = written.catch(() => undefined);
    return written;
  }

  async function compact(nowMs: number): Promise<void> {
    // As many lines are added as were kept, so that a large file is not written for each delivery.
    if (lines - linesKept < Math.max(compactAfterLines, linesKept)) return;
    const isOver = ({ state, savedAtMs }: Entry) =>
      state !== "pending" && state !== "parked" && savedAtMs < nowMs - retentionMs;
    writing = writing.then(async () => {
      for (const entry of [...entries.values()].filter(isOver)) {
        entries.delete(entry.id);
        known.delete(entry.eventKey);
        raise(knownTo, entry.epoch, entry.sequence);
      }
      const subjectsKept = new Set(
        [...entries.values()]
          .filter(({ state }) => state === "processed")
          .map(({ epoch, subject }) => `${epoch}/${subject}`),
      );
      // Of what is done, only what recognises it is kept.
      const kept: Line[] = [
        ...[...versions].map(([of, version]) => ({ version, of })).filter(({ of }) => !subjectsKept.has(of)),
        ...[...knownTo].map(([epoch, sequence]) => ({ knownTo: sequence, epoch })),
        ...[...entries.values()].map((entry) => ({
          save: entry.state === "pending" || entry.state === "parked" ? entry : { ...entry, body: "" },
        })),
      ];
      await file.replace(kept);
      lines = kept.length;
      linesKept = lines;
    });
    await writing;
  }

  const select = (state: State) =>
    [...entries.values()]
      .filter((entry) => entry.state === state)
      .sort((one, other) => one.sequence - other.sequence);

  return {
    retentionMs,
    save: async (delivery, state, nowMs) => {
      const holder = known.get(delivery.eventKey) ?? (entries.has(delivery.id) ? delivery.id : undefined);
      if (holder !== undefined) {
        // It may be on its way to the disk for another request.
        await writing;
        return "known";
      }
      known.set(delivery.eventKey, delivery.id);
      const entry = { ...delivery, attempts: 0, state, error: "", nextAttemptAtMs: nowMs, savedAtMs: nowMs };
      try {
        await record({ save: entry });
      } catch (error) {
        known.delete(delivery.eventKey);
        throw error;
      }
      await compact(nowMs);
      return "saved";
    },
    process: (id, work) =>
      oneAtATime(busy, entries.get(id)?.subject ?? id, async () => {
        const entry = entries.get(id);
        if (entry?.state !== "pending") return "settled";
        const isStale = isOutdated(entry, versions);
        if (!isStale) await work(claim(entry), undefined);
        const state = isStale ? "stale" : "processed";
        await record({ change: id, to: { state, error: "" } });
        return state;
      }),
    fail: async (id, error, nextAttemptAtMs) => {
      const entry = entries.get(id);
      if (entry?.state !== "pending") return;
      const attempts = entry.attempts + 1;
      const to: Partial<Entry> =
        nextAttemptAtMs === undefined
          ? { attempts, error, state: "parked" }
          : { attempts, error, nextAttemptAtMs };
      await record({ change: id, to });
    },
    due: async (nowMs, limit) =>
      select("pending")
        .filter(({ nextAttemptAtMs }) => nextAttemptAtMs <= nowMs)
        .slice(0, limit)
        .map(claim),
    parked: async (limit) =>
      select("parked")
        .slice(0, limit)
        .map((entry): ParkedDelivery => ({ ...claim(entry), error: entry.error })),
    retry: async (id, nowMs) => {
      if (entries.get(id)?.state !== "parked") return false;
      await record({ change: id, to: { state: "pending", attempts: 0, nextAttemptAtMs: nowMs } });
      return true;
    },
    sequences: async (epoch, after, limit) => {
      const own = [...entries.values()].filter((entry) => entry.epoch === epoch && entry.sequence > after);
      return [...new Set(own.map(({ sequence }) => sequence))]
        .sort((one, other) => one - other)
        .slice(0, limit);
    },
    knownTo: async (epoch) => knownTo.get(epoch),
    raiseKnownTo: (epoch, sequence) => record({ knownTo: sequence, epoch }),
    latestEpoch: async () => [...entries.values()].at(-1)?.epoch ?? [...knownTo.keys()].at(-1),
    close: async () => {
      await writing;
      await file.close();
    },
  };
}

function raise(numbers: Map<string, number>, key: string, to: number): void {
  numbers.set(key, Math.max(to, numbers.get(key) ?? -1));
}

/** The changes of one resource are processed one after the other. */
async function oneAtATime<Value>(
  busy: Map<string, Promise<unknown>>,
  key: string,
  work: () => Promise<Value>,
): Promise<Value> {
  const before = busy.get(key);
  const own = before === undefined ? work() : before.then(work, work);
  busy.set(key, own);
  try {
    return await own;
  } finally {
    if (busy.get(key) === own) busy.delete(key);
  }
}

function isOutdated(
  { subject, version, epoch }: StoredDelivery,
  versions: ReadonlyMap<string, number>,
): boolean {
  return subject !== null && version !== null && (versions.get(`${epoch}/${subject}`) ?? -1) >= version;
}

function claim({ id, eventKey, epoch, sequence, subject, version, body, attempts }: Entry): ClaimedDelivery {
  return { id, eventKey, epoch, sequence, subject, version, body, attempts };
}
