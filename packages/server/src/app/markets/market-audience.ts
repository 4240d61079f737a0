/** Whether any client looks at the markets of this process, or trades in them. */
export interface MarketAudience {
  isPresent: () => boolean;
  /** A request has read a book or placed an order. */
  noteRequest: () => void;
  /** A stream follows a market, until the returned function is called. */
  follow: () => () => void;
  /** Called when a client looks again after nobody has for a while. */
  onReturn: (listener: () => void) => void;
}

/** Clients that poll do so at least this often. */
const presentForMs = 60_000;

export function createMarketAudience(monotonicMs: () => number): MarketAudience {
  const listeners = new Set<() => void>();
  let followers = 0;
  let lastMs = Number.NEGATIVE_INFINITY;
  const isPresent = () => followers > 0 || monotonicMs() - lastMs < presentForMs;

  function note(): void {
    const wasPresent = isPresent();
    lastMs = monotonicMs();
    if (!wasPresent) for (const listener of listeners) listener();
  }

  return {
    isPresent,
    noteRequest: note,
    follow: () => {
      note();
      followers += 1;
      let isOver = false;
      return () => {
        if (isOver) return;
        isOver = true;
        followers -= 1;
        lastMs = monotonicMs();
      };
    },
    onReturn: (listener) => void listeners.add(listener),
  };
}
