import type { Random } from "./random.js";

/** Whose turn it is. What belongs to a process that was killed never happens. */
export interface Actor {
  readonly name: string;
  isAlive: boolean;
}

/**
 * The order of everything. Code under test and its world go on only when it is their turn; who is next among those that could be is
 * drawn from the seed, and so is how long a turn takes. Time passes only when nobody can go on.
 */
export interface Scheduler {
  now: () => number;
  /** Resolves when it is this actor's turn. */
  turn: (actor: Actor, what: string, delayMs?: number) => Promise<void>;
  /** Does the work after the time. The answer calls it off. */
  after: (actor: Actor, delayMs: number, what: string, work: () => void) => () => void;
  /** Lets things happen until this is true. */
  runUntil: (isDone: () => boolean) => Promise<void>;
}

interface Turn {
  dueMs: number;
  actor: Actor;
  what: string;
  work: () => void;
}

const startMs = Date.UTC(2026, 0, 1);
/** A run that takes more turns than this goes in circles. */
const turnsMax = 200_000;

export function createScheduler(random: Random, trace: (line: string) => void): Scheduler {
  const turns: Turn[] = [];
  let nowMs = startMs;
  let taken = 0;

  /** Most things happen at once, some take a little, few take long. */
  function latencyMs(): number {
    const draw = random.next();
    if (draw < 0.7) return 0;
    return draw < 0.98 ? random.between(1, 5) : random.between(5, 120);
  }

  function add(turn: Turn): () => void {
    turns.push(turn);
    return () => {
      const index = turns.indexOf(turn);
      if (index >= 0) remove(index);
    };
  }

  /** The order of those that wait does not matter: who is next is drawn. */
  function remove(index: number): void {
    const last = turns.pop() as Turn;
    if (index < turns.length) turns[index] = last;
  }

  function takeNext(): Turn {
    let earliestMs = Number.POSITIVE_INFINITY;
    for (const { dueMs } of turns) earliestMs = Math.min(earliestMs, dueMs);
    nowMs = Math.max(nowMs, earliestMs);
    const ready: number[] = [];
    for (const [index, { dueMs }] of turns.entries()) if (dueMs <= nowMs) ready.push(index);
    if (ready.length === 0) throw new Error("nothing is left to happen, and the run is not over");
    const index = random.pick(ready);
    const turn = turns[index] as Turn;
    remove(index);
    return turn;
  }

  return {
    now: () => nowMs,
    turn: (actor, what, delayMs = latencyMs()) =>
      new Promise((resolve) => void add({ dueMs: nowMs + delayMs, actor, what, work: resolve })),
    after: (actor, delayMs, what, work) => add({ dueMs: nowMs + delayMs, actor, what, work }),
    runUntil: async (isDone) => {
      while (!isDone()) {
        const { actor, what, work } = takeNext();
        if (!actor.isAlive) continue;
        taken += 1;
        if (taken > turnsMax) throw new Error("the run goes in circles");
        trace(`${nowMs - startMs} ${actor.name}: ${what}`);
        work();
        // Everything that follows from this turn without another one: all promises that it has settled.
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
  };
}
