import type { FollowedEvent, Transaction } from "@bursar/client";
import { matches, type TransactionFilters } from "./filters";

type Connection = "loading" | "live" | "interrupted";

export interface LiveState {
  rows: readonly Transaction[];
  /** How many changed or new ones wait while the list stands still. */
  waiting: number;
  isPaused: boolean;
  connection: Connection;
  /** Set if older ones were dropped from memory. */
  isCut: boolean;
  problem: unknown;
}

/** What the list needs of the service. */
export interface LiveSource {
  /** The newest transactions, and the sequence of the log that was last before they were read. */
  load: (signal: AbortSignal) => Promise<{ rows: Transaction[]; sequence: number; epoch: string }>;
  follow: (since: number, epoch: string, signal: AbortSignal) => AsyncIterable<FollowedEvent>;
}

/** As many as a person scrolls through; what is older is found by filters. */
export const rowsMax = 1000;
/** Changes of one frame are shown together. */
const showEveryMs = 100;
const retryMs = 2000;

/**
 * The newest transactions, kept up to date by the stream. Reading begins after the position of the log was noted, so a change in between
 * comes twice and not never: versions drop what is older. A pause keeps following and shows nothing.
 */
export class LiveList {
  #state: LiveState = {
    rows: [],
    waiting: 0,
    isPaused: false,
    connection: "loading",
    isCut: false,
    problem: undefined,
  };
  readonly #source: LiveSource;
  readonly #filters: TransactionFilters;
  readonly #listeners = new Set<() => void>();
  #rows = new Map<string, Transaction>();
  #changed = new Set<string>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isCut = false;

  constructor(source: LiveSource, filters: TransactionFilters) {
    this.#source = source;
    this.#filters = filters;
  }

  readonly state = (): LiveState => this.#state;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Follows until the signal; an interruption is shown, and what was missed is read again. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        const { rows, sequence, epoch } = await this.#source.load(signal);
        this.#rows = new Map(rows.filter((row) => matches(row, this.#filters)).map((row) => [row.id, row]));
        this.#isCut = false;
        this.#set({ connection: "live", problem: undefined });
        this.#showSoon();
        for await (const found of this.#source.follow(sequence, epoch, signal)) {
          // What was read may never have happened, or there is a hole: everything is read again.
          if (found.type === "gap") break;
          if (found.event.event === "transaction.updated") this.#take(found.event.data.transaction);
        }
      } catch (problem) {
        if (signal.aborted) return;
        this.#set({ connection: "interrupted", problem });
        await pause(retryMs, signal);
      }
    }
  }

  pause(isPaused: boolean): void {
    this.#set({ isPaused });
    if (!isPaused) this.#show();
  }

  #take(transaction: Transaction): void {
    const known = this.#rows.get(transaction.id);
    if (known !== undefined && known.version >= transaction.version) return;
    if (matches(transaction, this.#filters)) this.#rows.set(transaction.id, transaction);
    else if (!this.#rows.delete(transaction.id)) return;
    this.#changed.add(transaction.id);
    if (this.#rows.size > rowsMax * 2) this.#dropOldest();
    this.#showSoon();
  }

  #dropOldest(): void {
    this.#rows = new Map(
      sorted(this.#rows)
        .slice(0, rowsMax)
        .map((row) => [row.id, row]),
    );
    this.#isCut = true;
  }

  #showSoon(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      if (this.#state.isPaused) this.#set({ waiting: this.#changed.size });
      else this.#show();
    }, showEveryMs);
  }

  #show(): void {
    this.#changed = new Set();
    if (this.#rows.size > rowsMax) this.#dropOldest();
    this.#set({ rows: sorted(this.#rows), waiting: 0, isCut: this.#isCut });
  }

  #set(change: Partial<LiveState>): void {
    this.#state = { ...this.#state, ...change };
    for (const listener of this.#listeners) listener();
  }
}

/** Ids begin with their time, so the newest is the greatest. */
function sorted(rows: ReadonlyMap<string, Transaction>): Transaction[] {
  return [...rows.values()].sort((one, other) => (one.id < other.id ? 1 : one.id > other.id ? -1 : 0));
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener(
      "abort",
      () => {
        clearTimeout(timer);
        resolve();
      },
      { once: true },
    );
  });
}
