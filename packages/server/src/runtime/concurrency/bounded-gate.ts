/**
 * Runs a few pieces of work at once and lets a bounded number wait, so that a flood of them leaves the rest of the process its resources.
 * The keys of those that wait take turns, and so do the members of one key: the one with many of them does not delay the first of another.
 * If all places are taken, the key with the most gives up its last one for a key with fewer, so many keys together cannot keep out another
 * one either; so does the member with the most, if all places of its key are taken. A bound on what one key or member runs at once leaves
 * the others room even if its work takes long.
 */
export interface BoundedGate {
  /** The result of the work; `full` if too many wait already, of this member, of its key or of all, or if it has left. */
  run: <T>(
    key: GateKey,
    work: () => Promise<T>,
    /** Called if it has to wait. What it is given leaves the queue, and does nothing once it is its turn. */
    onWait?: (leave: () => void) => void,
  ) => Promise<T | "full">;
}

/** A key, or one of its members. */
export type GateKey = string | { key: string; member: string };

export interface BoundedGateLimits {
  concurrentMax: number;
  /** How many of them may be of one key; left out, all of them. */
  concurrentOfKeyMax?: number;
  /** How many of these may be of one member; left out, all of them. */
  concurrentOfMemberMax?: number;
  waitingMax: number;
  waitingOfKeyMax: number;
  /** How many of these may be of one member; left out, all of them. */
  waitingOfMemberMax?: number;
}

type Outcome = "turn" | "full";
type Waiter = (outcome: Outcome) => void;

/** What waits of one key: by member, in the order in which their turns come. */
interface Line {
  count: number;
  members: Map<string, Waiter[]>;
}

export function createBoundedGate({
  concurrentMax,
  concurrentOfKeyMax = concurrentMax,
  concurrentOfMemberMax = concurrentOfKeyMax,
  waitingMax,
  waitingOfKeyMax,
  waitingOfMemberMax = waitingOfKeyMax,
}: BoundedGateLimits): BoundedGate {
  /** By key, in the order in which their turns come. */
  const lines = new Map<string, Line>();
  let waitingCount = 0;
  const running = createCounts();
  const runningOfMember = createCounts();
  let runningCount = 0;

  const mayRun = (key: string) => running.of(key) < concurrentOfKeyMax;
  const mayMemberRun = (key: string, member: string) =>
    runningOfMember.of(nameOf(key, member)) < concurrentOfMemberMax;

  /** Counts the work of a member that begins, or that has ended. */
  function count(key: string, member: string, change: 1 | -1): void {
    running.add(key, change);
    runningOfMember.add(nameOf(key, member), change);
    runningCount += change;
  }

  /** Resolves when it is the caller's turn, which it then has to end. */
  function takeTurn(
    key: string,
    member: string,
    onWait: ((leave: () => void) => void) | undefined,
  ): Outcome | Promise<Outcome> {
    if (runningCount < concurrentMax && mayRun(key) && mayMemberRun(key, member)) {
      count(key, member, 1);
      return "turn";
    }
    if (!hasRoom(key, member)) return "full";
    return new Promise((resolve) => {
      join(key, member, resolve);
      onWait?.(() => {
        if (remove(key, member, resolve)) resolve("full");
      });
    });
  }

  /** Whether there is a place to wait, perhaps one that another one has to give up. */
  function hasRoom(key: string, member: string): boolean {
    const line = lines.get(key);
    const own = line?.members.get(member)?.length ?? 0;
    if (own >= waitingOfMemberMax) return false;
    if (line !== undefined && line.count >= waitingOfKeyMax) return makeRoom(key, line, own);
    return waitingCount < waitingMax || makeRoomOfKeys(line?.count ?? 0);
  }

  /** Turns away the last of the key with the most, if that one has at least two more than the key that needs a place. */
  function makeRoomOfKeys(ownCount: number): boolean {
    let largest: [string, Line] | undefined;
    for (const one of lines) if (one[1].count > (largest?.[1].count ?? 0)) largest = one;
    return largest !== undefined && largest[1].count >= ownCount + 2 && makeRoom(...largest, -1);
  }

  /** Turns away the last of the member with the most, if that one has at least two more than the member that needs a place. */
  function makeRoom(key: string, { members }: Line, ownCount: number): boolean {
    let largest: [string, Waiter[]] | undefined;
    for (const one of members) if (one[1].length > (largest?.[1].length ?? 0)) largest = one;
    const last = largest?.[1].at(-1);
    if (largest === undefined || last === undefined || largest[1].length < ownCount + 2) return false;
    remove(key, largest[0], last);
    last("full");
    return true;
  }

  function join(key: string, member: string, waiter: Waiter): void {
    const line = lines.get(key) ?? { count: 0, members: new Map() };
    const queue = line.members.get(member) ?? [];
    queue.push(waiter);
    line.members.set(member, queue);
    line.count += 1;
    lines.set(key, line);
    waitingCount += 1;
  }

  /** False if it does not wait any more. */
  function remove(key: string, member: string, waiter: Waiter): boolean {
    const line = lines.get(key);
    const queue = line?.members.get(member);
    const index = queue?.indexOf(waiter) ?? -1;
    if (line === undefined || queue === undefined || index < 0) return false;
    queue.splice(index, 1);
    if (queue.length === 0) line.members.delete(member);
    line.count -= 1;
    if (line.count === 0) lines.delete(key);
    waitingCount -= 1;
    return true;
  }

  /** Passes the turn to the next key and member that may run one, which go to the end if they have more. */
  function endTurn(endedKey: string, endedMember: string): void {
    count(endedKey, endedMember, -1);
    for (const [key, line] of lines) {
      if (!mayRun(key)) continue;
      for (const [member, [first]] of line.members) {
        if (first === undefined || !mayMemberRun(key, member)) continue;
        remove(key, member, first);
        toEnd(line.members, member);
        toEnd(lines, key);
        count(key, member, 1);
        first("turn");
        return;
      }
    }
  }

  return {
    run: async (given, work, onWait) => {
      const { key, member } = typeof given === "string" ? { key: given, member: "" } : given;
      const outcome = await takeTurn(key, member, onWait);
      if (outcome !== "turn") return outcome;
      try {
        return await work();
      } finally {
        endTurn(key, member);
      }
    },
  };
}

function nameOf(key: string, member: string): string {
  return `${key} ${member}`;
}

function toEnd<Value>(map: Map<string, Value>, name: string): void {
  const value = map.get(name);
  if (value === undefined) return;
  map.delete(name);
  map.set(name, value);
}

/** Counts by name; a name that has none costs nothing. */
function createCounts() {
  const counts = new Map<string, number>();
  return {
    of: (name: string) => counts.get(name) ?? 0,
    add: (name: string, change: number) => {
      const sum = (counts.get(name) ?? 0) + change;
      if (sum === 0) counts.delete(name);
      else counts.set(name, sum);
    },
  };
}
