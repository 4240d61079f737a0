import type { BursarEvent, FollowedEvent } from "@bursar/client";
import { lacksScope } from "../api/queries";
import { createBackoff, pause } from "./backoff";

type Connection = "loading" | "live" | "not live" | "interrupted";

export interface LiveState<Row> {
  rows: readonly Row[];
  /** How many changed or new ones wait while the list stands still. */
  waiting: number;
  isPaused: boolean;
  connection: Connection;
  /** Set if there are older ones, which were not read or were dropped from memory. */
  isCut: boolean;
  problem: unknown;
}

/** What the list needs of the service. */
export interface LiveSource<Row> {
  /** The newest rows, whether there are older ones, and the sequence of the log that was last before they were read. */
  load: (signal: AbortSignal) => Promise<{ rows: Row[]; isCut: boolean; sequence: number; epoch: string }>;
  /** Undefined for those who may not follow: the rows are loaded again and again. */
  follow:
    | ((
        since: number,
        epoch: string,
        signal: AbortSignal,
        onConnection: (isConnected: boolean) => void,
      ) => AsyncIterable<FollowedEvent>)
    | undefined;
}

/** What a row is. */
export interface LiveRows<Row> {
  /** The row that an event brings; undefined if the event is about something else. */
  read: (event: BursarEvent) => Row | undefined;
  keyOf: (row: Row) => string;
  versionOf: (row: Row) => number;
  /** Whether it belongs into the list, as the service would decide it. */
  matches: (row: Row) => boolean;
  /** Negative if the first one is shown first. */
  compare: (one: Row, other: Row) => number;
}

/** As many as a person scrolls through; what is older is found by filters. */
export const rowsMax = 1000;
/** How often a list that is not followed is loaded. */
export const loadEveryMs = 10_000;
/** Changes of one frame are shown together. */
const showEveryMs = 100;

/**
 * The newest rows, kept up to date by the stream. Reading begins after the position of the log was noted, so a change in between
 * comes twice and not never: versions drop what is older. A pause keeps following and shows nothing.
 */
export class LiveList<Row> {
  #state: LiveState<Row> = {
    rows: [],
    waiting: 0,
    isPaused: false,
    connection: "loading",
    isCut: false,
    problem: undefined,
  };
  readonly #source: LiveSource<Row>;
  readonly #kind: LiveRows<Row>;
  readonly #listeners = new Set<() => void>();
  #rows = new Map<string, Row>();
  #changed = new Set<string>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isCut = false;

  constructor(source: LiveSource<Row>, kind: LiveRows<Row>) {
    this.#source = source;
    this.#kind = kind;
  }

  readonly state = (): LiveState<Row> => this.#state;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Follows until the signal; an interruption is shown, and what was missed is read again. */
  async run(signal: AbortSignal): Promise<void> {
    const backoff = createBackoff();
    while (!signal.aborted) {
      try {
        const { rows, isCut, sequence, epoch } = await this.#source.load(signal);
        this.#replace(rows.filter(this.#kind.matches));
        this.#isCut = isCut;
        this.#showLoaded();
        if (this.#source.follow === undefined) {
          await pause(loadEveryMs, signal);
          continue;
        }
        const show = (isConnected: boolean) => {
          if (!signal.aborted) this.#set({ connection: isConnected ? "live" : "interrupted" });
        };
        for await (const found of this.#source.follow(sequence, epoch, signal, show)) {
          // What was read may never have happened, or there is a hole: everything is read again.
          if (found.type === "gap") break;
          const row = this.#kind.read(found.event);
          if (row !== undefined) this.#take(row);
        }
        if (signal.aborted) return;
        this.#set({ connection: "interrupted" });
      } catch (problem) {
        if (signal.aborted) return;
        this.#set({ connection: "interrupted", problem });
        if (lacksScope(problem)) return;
      }
      await backoff.wait(signal);
    }
  }

  pause(isPaused: boolean): void {
    this.#set({ isPaused });
    if (!isPaused) this.#show();
  }

  /** With what was loaded. What is new or newer than before has changed. */
  #replace(rows: readonly Row[]): void {
    const { versionOf } = this.#kind;
    const before = this.#rows;
    this.#rows = this.#mapOf(rows);
    for (const [key, row] of this.#rows) {
      const known = before.get(key);
      if (known === undefined || versionOf(known) < versionOf(row)) this.#noteChange(key);
    }
  }

  /** Beyond what is kept, how many wait says nothing more. */
  #noteChange(key: string): void {
    if (this.#changed.size < rowsMax) this.#changed.add(key);
  }

  #take(row: Row): void {
    const { keyOf, versionOf, matches } = this.#kind;
    const key = keyOf(row);
    const known = this.#rows.get(key);
    if (known !== undefined && versionOf(known) >= versionOf(row)) return;
    if (matches(row)) this.#rows.set(key, row);
    else if (!this.#rows.delete(key)) return;
    this.#noteChange(key);
    if (this.#rows.size > rowsMax * 2) this.#dropOldest();
    this.#showSoon();
  }

  #dropOldest(): void {
    this.#rows = this.#mapOf(this.#sorted().slice(0, rowsMax));
    this.#isCut = true;
  }

  /** Rows and connection change together: a list that was loaded and has no rows is an empty one. */
  #showLoaded(): void {
    const connection: Connection = this.#source.follow === undefined ? "not live" : "live";
    const loaded = { connection, problem: undefined };
    if (this.#state.isPaused && this.#state.rows.length > 0)
      this.#set({ ...loaded, waiting: this.#changed.size });
    else this.#show(loaded);
  }

  #showSoon(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      if (this.#state.isPaused) this.#set({ waiting: this.#changed.size });
      else this.#show();
    }, showEveryMs);
  }

  #show(change: Partial<LiveState<Row>> = {}): void {
    this.#changed = new Set();
    if (this.#rows.size > rowsMax) this.#dropOldest();
    this.#set({ ...change, rows: this.#sorted(), waiting: 0, isCut: this.#isCut });
  }

  #mapOf(rows: readonly Row[]): Map<string, Row> {
    return new Map(rows.map((row) => [this.#kind.keyOf(row), row]));
  }

  #sorted(): Row[] {
    return [...this.#rows.values()].sort(this.#kind.compare);
  }

  #set(change: Partial<LiveState<Row>>): void {
    this.#state = { ...this.#state, ...change };
    for (const listener of this.#listeners) listener();
  }
}
