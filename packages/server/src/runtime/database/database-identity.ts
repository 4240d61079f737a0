/**
 * Knows which database this process talks to, and notices when it is no longer the same one: after a promotion, after a restore, after a
 * restart. Positions and caches in memory can then be ahead of the database, so all of them are dropped.
 *
 * A generation is what one server process has served without interruption. An epoch is what clients see of it: a name that changes
 * whenever committed data may have been lost, and stays the same when a server only restarts.
 */
export interface DatabaseIdentity {
  /** A number that grows whenever the database may have changed behind the process's back. */
  generation: () => number;
  /** The name of the epoch, as it is stored; undefined until it was read. */
  epoch: () => string | undefined;
  /** Names the server process behind the connections; undefined until it was read. */
  server: () => string | undefined;
  /** Whether the database has had an earlier epoch, so that versions and sequences can have had another meaning. */
  hasEarlierEpochs: () => boolean;
  /**
   * Whether the tables were found missing, and nobody has confirmed since that all of them are back. What is written meanwhile could be in
   * the way of a restore.
   */
  isIncomplete: () => boolean;
  confirmComplete: () => void;
  /**
   * Whether the database had answered so shortly before this time, which is now if left out, that it was still the known one. A process can
   * have stood still during a failover, or can have lost its connections; then what it has in memory is not shown.
   */
  hasAnsweredNow: (atMs?: number) => boolean;
  /** Called in the same turn of the event loop in which a change is noticed. Returns a function that ends the subscription. */
  subscribe: (listener: DatabaseChangeListener) => () => void;
}

type DatabaseChangeListener = (change: DatabaseChange) => void;

export interface DatabaseChange {
  /** Whether committed data may have been lost. If not, the server has only restarted. */
  isNewEpoch: boolean;
}

/** What a connection has found behind it. */
export interface DatabaseReading {
  /** Names the server process and the database in it: the cluster, the timeline and the time of start. */
  server: string;
  /** Undefined if the server does not show it. */
  cluster: string | undefined;
  /** Eight hexadecimal digits. Undefined if the server does not show it, as a standby. */
  timeline: string | undefined;
  /** Names the installation of Bursar whose tables these are, in whatever cluster. Undefined before the migrations. */
  installation: string | undefined;
  epoch: Epoch | undefined;
  /** How much the server has written to its log and flushed; undefined if it cannot be read. */
  position: number | undefined;
}

export interface Epoch {
  id: string;
  number: number;
  /** By the clock of the server on which it was begun. */
  startedUs: number;
  /** Whether an operator has begun it: the server is the one to use. */
  isRecovered?: boolean | undefined;
  /** On which it was begun; undefined if its row does not say. */
  timeline?: string | undefined;
  /**
   * The SQL transaction that has written the row. Nothing changes the row once it names its server, so another one has put it back: a dump
   * was restored in place. Undefined while the row will still be given a name.
   */
  writtenBy?: string | undefined;
}

export interface KnownDatabase extends Partial<DatabaseReading> {
  generation: number;
}

/** The part that connections report to. */
export interface ObservedIdentity extends DatabaseIdentity {
  /** Takes into account that a connection of the current generation has answered what it was asked at this time. */
  answered: (askedMs: number) => void;
  /** Takes into account that a connection has ended: the server may be gone, so only what it is asked from now on counts. */
  doubt: () => void;
  /** What is known before a reading, to compare it with. */
  known: () => KnownDatabase;
  /**
   * Takes a reading into account and returns the generation that it belongs to. Undefined if the database was found to be another one while
   * the reading was made: then it says nothing.
   */
  observe: (reading: DatabaseReading, since: { generation: number }) => number | undefined;
  /**
   * Takes into account that another server of the same cluster takes writes on a later timeline: the one that the connections are to is an
   * old primary, and nothing is used of it from now on.
   */
  leave: (later: Pick<DatabaseReading, "cluster" | "timeline">) => void;
  /**
   * Takes into account that a server without tables was found instead of the known one. A backup may be restored to it next, so what is
   * found afterwards, there or on the known server, is used when somebody has confirmed that it is complete.
   */
  distrust: () => void;
}

/**
 * Whether a server of the same cluster is on an earlier timeline than was seen: it is an old primary that was replaced by a standby, or a
 * copy from before that. What was committed since is not on it.
 */
export function isOlderTimeline(
  found: Pick<DatabaseReading, "cluster" | "timeline">,
  seen: Partial<Pick<DatabaseReading, "cluster" | "timeline">>,
): boolean {
  if (found.cluster === undefined || found.timeline === undefined || seen.timeline === undefined)
    return false;
  return found.cluster === seen.cluster && found.timeline < seen.timeline;
}

/**
 * Less than a promotion takes, of which the fastest measured one took 240 ms. So a process that stood still for as long as a failover, or
 * whose primary was cut off without a word, asks before it shows anything. Under load other statements confirm it; a process that only reads
 * from memory asks 20 times a second.
 */
const knownForMs = 50;

export function createDatabaseIdentity(
  onError: (error: unknown) => void = () => undefined,
  monotonicMs: () => number = () => performance.now(),
): ObservedIdentity {
  const listeners = new Set<DatabaseChangeListener>();
  let generation = 0;
  let current: DatabaseReading | undefined;
  let isGone = false;
  let isIncomplete = false;
  let answeredMs = Number.NEGATIVE_INFINITY;
  let doubtedMs = Number.NEGATIVE_INFINITY;

  function change(isNewEpoch: boolean): void {
    generation += 1;
    answeredMs = Number.NEGATIVE_INFINITY;
    for (const listener of [...listeners])
      try {
        listener({ isNewEpoch });
      } catch (error) {
        // What one part does about it must not keep the others from it.
        onError(error);
      }
  }

  return {
    generation: () => generation,
    epoch: () => current?.epoch?.id,
    server: () => current?.server,
    isIncomplete: () => isIncomplete,
    hasAnsweredNow: (atMs = monotonicMs()) => atMs - answeredMs < knownForMs,
    answered: (askedMs) => {
      // An answer can have been under way when its server ended.
      if (askedMs > doubtedMs) answeredMs = Math.max(answeredMs, askedMs);
    },
    doubt: () => {
      doubtedMs = monotonicMs();
      answeredMs = Number.NEGATIVE_INFINITY;
    },
    confirmComplete: () => {
      isIncomplete = isGone;
    },
    hasEarlierEpochs: () => (current?.epoch?.number ?? 1) > 1,
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    known: () => ({ ...current, generation }),
    observe: (reading, since) => {
      if (since.generation !== generation) return undefined;
      const before = current;
      // Found on a connection to another server at the same time.
      if (isOlderTimeline(reading, before ?? {})) return undefined;
      current = {
        ...reading,
        // Before the migrations there is no epoch, and while a dump is restored there is none for a while.
        epoch: reading.epoch ?? before?.epoch,
        installation: reading.installation ?? before?.installation,
        timeline: reading.timeline ?? (before?.cluster === reading.cluster ? before?.timeline : undefined),
      };
      const wasGone = isGone;
      isGone = before?.epoch !== undefined && reading.epoch === undefined;
      isIncomplete ||= isGone;
      if (before === undefined) return generation;
      const isSameServer = before.server === reading.server;
      const isNewEpoch =
        before.epoch !== undefined && reading.epoch !== undefined && before.epoch.id !== reading.epoch.id;
      if (isSameServer && !isNewEpoch && !(isGone && !wasGone)) {
        // Readings can overtake each other.
        current.position = Math.max(before.position ?? 0, reading.position ?? 0);
        return generation;
      }
      change(isNewEpoch);
      return generation;
    },
    leave: ({ cluster, timeline }) => {
      if (current === undefined || !isOlderTimeline(current, { cluster, timeline })) return;
      current = { ...current, timeline };
      change(false);
    },
    distrust: () => {
      if (isIncomplete) return;
      isIncomplete = true;
      change(false);
    },
  };
}
