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
  /** Whether the database has had an earlier epoch, so that versions and sequences can have had another meaning. */
  hasEarlierEpochs: () => boolean;
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
  /** Names the server process: its cluster, timeline and time of start. */
  server: string;
  epoch: Epoch | undefined;
  /** How much the server has written to its log and flushed; undefined if it cannot be read. */
  position: number | undefined;
}

export interface Epoch {
  id: string;
  number: number;
}

/** The part that connections report to. */
export interface ObservedIdentity extends DatabaseIdentity {
  /** What is known before a reading, to compare it with. */
  known: () => { generation: number; position: number; epoch: Epoch | undefined };
  /**
   * Takes a reading into account and returns the generation that it belongs to. Undefined if the database was found to be another one while
   * the reading was made: then it says nothing.
   */
  observe: (reading: DatabaseReading, since: { generation: number }) => number | undefined;
}

export function createDatabaseIdentity(
  onError: (error: unknown) => void = () => undefined,
): ObservedIdentity {
  const listeners = new Set<DatabaseChangeListener>();
  let generation = 0;
  let current: DatabaseReading | undefined;

  function change(isNewEpoch: boolean): void {
    generation += 1;
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
    hasEarlierEpochs: () => (current?.epoch?.number ?? 1) > 1,
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    known: () => ({ generation, position: current?.position ?? 0, epoch: current?.epoch }),
    observe: (reading, since) => {
      if (since.generation !== generation) return undefined;
      const before = current;
      current = {
        ...reading,
        // Before the migrations there is no epoch.
        epoch: reading.epoch ?? before?.epoch,
        position: reading.position,
      };
      if (before === undefined) return generation;
      const isSameServer = before.server === reading.server;
      const isNewEpoch =
        before.epoch !== undefined && reading.epoch !== undefined && before.epoch.id !== reading.epoch.id;
      if (isSameServer && !isNewEpoch) {
        // Readings can overtake each other.
        current.position = Math.max(before.position ?? 0, reading.position ?? 0);
        return generation;
      }
      change(isNewEpoch);
      return generation;
    },
  };
}
