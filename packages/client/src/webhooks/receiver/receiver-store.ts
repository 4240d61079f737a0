/** A verified delivery as a store keeps it. */
export interface StoredDelivery {
  /** The `delivery_id`; for an event that was read from the log, one made from its sequence. */
  id: string;
  /** Equal for all deliveries of one event, also for those that were sent again with a new id. */
  eventKey: string;
  /** The history of the service's database that the sequence and the version belong to; empty if it is not known. */
  epoch: string;
  sequence: number;
  /** The id of the resource that has changed; null if the event has none. */
  subject: string | null;
  version: number | null;
  /** The notification as JSON. */
  body: string;
}

/** A delivery that is being processed. */
export interface ClaimedDelivery extends StoredDelivery {
  /** How often processing it has failed. */
  attempts: number;
}

/** A delivery whose processing has failed too often. */
export interface ParkedDelivery extends ClaimedDelivery {
  error: string;
}

/** What came of processing: `stale` if a newer version of the resource was processed before, `settled` if another call has done it or does it. */
export type ProcessResult = "processed" | "stale" | "settled";

/** Keeps deliveries between the steps of a receiver. `Context` is what the handler gets to write with. */
export interface ReceiverStore<Context> {
  /** If true, the handler must not return a promise, because the store's transaction cannot wait for it. */
  isSynchronous?: true;
  /** How long the store remembers what is done, if it decides that itself instead of being pruned. */
  retentionMs?: number;
  /** Persists a delivery, unless it or another delivery of its event is known. A skipped one is only remembered. */
  save: (delivery: StoredDelivery, state: "pending" | "skipped", nowMs: number) => Promise<"saved" | "known">;
  /**
   * Claims a pending delivery, compares its version, does the work, and marks it. If the store can, all of that is one transaction. If the
   * work fails, the delivery stays pending.
   */
  process: (
    id: string,
    work: (delivery: ClaimedDelivery, context: Context) => Promise<void> | void,
  ) => Promise<ProcessResult>;
  /** Records a failure: the delivery is due again at a time, or parked without one. */
  fail: (id: string, error: string, nextAttemptAtMs: number | undefined) => Promise<void>;
  /** The pending deliveries that are due, in the order of their sequences. */
  due: (nowMs: number, limit: number) => Promise<ClaimedDelivery[]>;
  parked: (limit: number) => Promise<ParkedDelivery[]>;
  /** Makes a parked delivery pending again, with all its attempts; false if there is none. */
  retry: (id: string, nowMs: number) => Promise<boolean>;
  /**
   * Forgets deliveries that are done and were received before a time, the oldest first, at most `limit` of them. Returns how many. A store
   * that bounds itself needs none. What it forgets is known: it raises `knownTo`.
   */
  prune?: (beforeMs: number, limit: number) => Promise<number>;
  /** The known sequences of an epoch after one, in order. */
  sequences: (epoch: string, after: number, limit: number) => Promise<number[]>;
  /** Up to which sequence of an epoch nothing counts as missing: it was forgotten, or happened before the store was used. */
  knownTo: (epoch: string) => Promise<number | undefined>;
  /** Raises that; a lower number changes nothing. */
  raiseKnownTo: (epoch: string, sequence: number) => Promise<void>;
  /** The epoch of the delivery that was saved last; undefined if the store was never used. */
  latestEpoch: () => Promise<string | undefined>;
}
