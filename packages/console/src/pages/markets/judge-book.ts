import type { LiveBook, Orderbook } from "@bursar/client";

/** What the last confirmation demands of the copy: the sequence that it has to have by now. */
export interface Judgement {
  staleReason: string | undefined;
  mustReach: number;
}

/**
 * Holds the copy that the stream keeps against a snapshot of the service. The client verifies sequence and checksum of each change; what
 * it cannot notice is that changes do not arrive, or that the service itself has lost its market.
 */
export function judgeBook(
  copy: Pick<LiveBook, "sequence" | "bids" | "asks"> | undefined,
  snapshot: Pick<Orderbook, "sequence" | "bids" | "asks" | "stale">,
  mustReach: number,
): Judgement {
  const next = { mustReach: snapshot.sequence };
  if (snapshot.stale)
    return { ...next, staleReason: "The service could not confirm this book for some seconds." };
  if (copy === undefined || copy.sequence < mustReach)
    return { ...next, staleReason: "Changes of the book do not arrive." };
  const isSame = (own: LiveBook["bids"], other: Orderbook["bids"]) =>
    other.every(([price, size], at) => own[at]?.[0] === price && own[at]?.[1] === size);
  if (copy.sequence === snapshot.sequence)
    if (!isSame(copy.bids, snapshot.bids) || !isSame(copy.asks, snapshot.asks))
      return { ...next, staleReason: "This book is not the one of the service." };
  return { ...next, staleReason: undefined };
}
