/** The locks of a database's rows, as PostgreSQL keeps them: until the end of the transaction, shared or exclusive. */
export interface Locks<Holder> {
  /** Who is in the way; empty if the lock is free. */
  inTheWay: (holder: Holder, name: string, mode: LockMode) => Holder[];
  take: (holder: Holder, name: string, mode: LockMode) => void;
  /** Waits until something in the way has ended. Undefined if that would never end, because it waits for this one. */
  wait: (holder: Holder, name: string, mode: LockMode) => Promise<void> | undefined;
  /** Gives back all that it holds and ends its waiting. */
  releaseAll: (holder: Holder) => void;
}

export type LockMode = "shared" | "exclusive";

interface Lock<Holder> {
  exclusive: Holder | undefined;
  shared: Set<Holder>;
}

interface Waiting<Holder> {
  name: string;
  mode: LockMode;
  holder: Holder;
  wake: () => void;
}

/** `wakeUp` lets a holder that waited look again, when it is its turn. */
export function createLocks<Holder>(wakeUp: (holder: Holder, wake: () => void) => void): Locks<Holder> {
  const locks = new Map<string, Lock<Holder>>();
  const waiting = new Map<Holder, Waiting<Holder>>();

  function inTheWay(holder: Holder, name: string, mode: LockMode): Holder[] {
    const lock = locks.get(name);
    if (lock === undefined) return [];
    const holders: (Holder | undefined)[] = [lock.exclusive, ...(mode === "exclusive" ? lock.shared : [])];
    return holders.filter((other) => other !== undefined && other !== holder) as Holder[];
  }

  /** Whether one of these waits, over whatever corners, for the holder. */
  function leadsBack(others: readonly Holder[], holder: Holder, seen: Set<Holder>): boolean {
    return others.some((other) => {
      if (other === holder) return true;
      if (seen.has(other)) return false;
      seen.add(other);
      const its = waiting.get(other);
      return its !== undefined && leadsBack(inTheWay(other, its.name, its.mode), holder, seen);
    });
  }

  return {
    inTheWay,
    take: (holder, name, mode) => {
      const lock = locks.get(name) ?? { exclusive: undefined, shared: new Set() };
      locks.set(name, lock);
      if (mode === "exclusive") lock.exclusive = holder;
      else lock.shared.add(holder);
    },
    wait: (holder, name, mode) => {
      if (leadsBack(inTheWay(holder, name, mode), holder, new Set())) return undefined;
      return new Promise((resolve) => {
        waiting.set(holder, { name, mode, holder, wake: resolve });
      });
    },
    releaseAll: (holder) => {
      const own = waiting.get(holder);
      waiting.delete(holder);
      if (own !== undefined) wakeUp(holder, own.wake);
      for (const [name, lock] of locks) {
        if (lock.exclusive !== holder && !lock.shared.has(holder)) continue;
        if (lock.exclusive === holder) lock.exclusive = undefined;
        lock.shared.delete(holder);
        for (const other of [...waiting.values()].filter((one) => one.name === name)) {
          waiting.delete(other.holder);
          wakeUp(other.holder, other.wake);
        }
        if (lock.exclusive === undefined && lock.shared.size === 0) locks.delete(name);
      }
    },
  };
}
