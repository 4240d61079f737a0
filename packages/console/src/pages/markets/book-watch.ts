import type { LiveBook } from "@bursar/client";
import { bursar } from "../../api/bursar";
import { hasEnded } from "../../api/queries";
import { createBackoff } from "../../live/backoff";
import { judgeBook } from "./judge-book";

export interface WatchedBook {
  book: LiveBook | undefined;
  /** Why the book must not be relied on; undefined if it may be. */
  staleReason: string | undefined;
}

const showEveryMs = 100;
const confirmEveryMs = 3000;
const confirmedLevels = 10;

/** The order book of a market from the stream, confirmed by snapshots. */
export class BookWatch {
  #state: WatchedBook = { book: undefined, staleReason: undefined };
  readonly #market: string;
  readonly #listeners = new Set<() => void>();
  #newest: LiveBook | undefined;
  #mustReach = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(market: string) {
    this.#market = market;
  }

  readonly state = (): WatchedBook => this.#state;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  async run(signal: AbortSignal): Promise<void> {
    const confirming = setInterval(() => void this.#confirm(signal), confirmEveryMs);
    signal.addEventListener("abort", () => clearInterval(confirming), { once: true });
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
      }
      await backoff.wait(signal);
    }
  }

  async #confirm(signal: AbortSignal): Promise<void> {
    try {
      const snapshot = await bursar.orderbook.get(
        { market: this.#market, depth: confirmedLevels },
        { signal },
      );
      const { staleReason, mustReach } = judgeBook(this.#newest, snapshot, this.#mustReach);
      this.#mustReach = mustReach;
      this.#set({ staleReason });
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
