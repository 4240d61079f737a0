import type { LiveBook } from "@bursar/client";
import { bursar } from "../../api/bursar";
import { hasEnded, lacksScope } from "../../api/queries";
import { createBackoff } from "../../live/backoff";
import { judgeBook } from "./judge-book";

export interface WatchedBook {
  book: LiveBook | undefined;
  /** Why the book must not be relied on; undefined if it may be. */
  staleReason: string | undefined;
}

const showEveryMs = 100;
export const confirmEveryMs = 3000;
const confirmedLevels = 10;
/** As many as the stream has. */
const levelsMax = 1000;

/** The order book of a market from the stream, confirmed by snapshots. For those who may not follow the stream, it is the last snapshot. */
export class BookWatch {
  #state: WatchedBook = { book: undefined, staleReason: undefined };
  readonly #market: string;
  readonly #isFollowed: boolean;
  readonly #listeners = new Set<() => void>();
  #newest: LiveBook | undefined;
  #mustReach = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(market: string, isFollowed: boolean) {
    this.#market = market;
    this.#isFollowed = isFollowed;
  }

  readonly state = (): WatchedBook => this.#state;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  async run(signal: AbortSignal): Promise<void> {
    const confirming = setInterval(() => void this.#confirm(signal), confirmEveryMs);
    signal.addEventListener("abort", () => clearInterval(confirming), { once: true });
    if (this.#isFollowed) await this.#follow(signal);
    else await this.#confirm(signal);
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const backoff = createBackoff();
    while (!signal.aborted) {
      try {
        for await (const book of bursar.orderbook.live(this.#market, { signal })) {
          this.#newest = book;
          this.#showSoon();
        }
      } catch (error) {
        if (signal.aborted) return;
        this.#set({ staleReason: reasonOf(error) });
        if (lacksScope(error)) return;
      }
      await backoff.wait(signal);
    }
  }

  async #confirm(signal: AbortSignal): Promise<void> {
    try {
      const snapshot = await bursar.orderbook.get(
        { market: this.#market, depth: this.#isFollowed ? confirmedLevels : levelsMax },
        { signal },
      );
      if (!this.#isFollowed) this.#newest = snapshot;
      const { staleReason, mustReach } = judgeBook(this.#newest, snapshot, this.#mustReach);
      this.#mustReach = mustReach;
      this.#set(this.#isFollowed ? { staleReason } : { staleReason, book: this.#newest });
    } catch (error) {
      if (!signal.aborted) this.#set({ staleReason: reasonOf(error) });
    }
  }

  #showSoon(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#set({ book: this.#newest });
    }, showEveryMs);
  }

  #set(change: Partial<WatchedBook>): void {
    this.#state = { ...this.#state, ...change };
    for (const listener of this.#listeners) listener();
  }
}

function reasonOf(error: unknown): string {
  return hasEnded(error) ? "Your session has ended." : "The service does not answer.";
}
