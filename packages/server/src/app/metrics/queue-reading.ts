/** What waits in the database, for the metrics. Counts end at a bound, beyond which the number no longer matters: they say "at least". */
export interface QueueReading {
  transactions: {
    /** Not judged yet. */
    accepted: Waiting;
    /** Without its age: how long approvers take is up to the policy. */
    awaiting_approval: Waiting;
    /** With a rail. */
    on_rail: Waiting;
    /** Could not be processed, and are tried again. */
    failed: Waiting;
  };
  /** Webhook deliveries that are due, of endpoints that answer and of those that have been failing. */
  deliveries: { healthy: Waiting; failing: Waiting };
  /** Events whose deliveries were too many to be written with them. */
  deferredEvents: number;
  endpoints: {
    /** Enabled, without a success since some attempt. */
    failing: number;
    /** Disabled by the service, by its reason. */
    disabledFailing: number;
    disabledGone: number;
  };
  markets: readonly MarketReading[];
  /** Orders that could not be processed, or were set aside. */
  failedOrders: number;
  /** Undefined if the ledger was never audited. */
  ledgerAudit: LedgerAudit | undefined;
}

export interface Waiting {
  count: number;
  oldest: Date | undefined;
}

export interface MarketReading {
  market: string;
  /** Orders that were accepted and not yet admitted. */
  newOrders: Waiting;
  /** Commands that were admitted and not yet executed. */
  commands: number;
  /** The last change of its price levels. */
  levelSequence: number;
  /** Whether a process runs it. */
  isHeld: boolean;
  /** Whether it waits for an operator. */
  isHalted: boolean;
}

interface LedgerAudit {
  finishedAt: Date;
  /** How many rules were violated. */
  violated: number;
}

export interface QueueReader {
  /** Undefined if the database did not answer in time. */
  read: () => Promise<QueueReading | undefined>;
  /** How often it did not. */
  failures: () => number;
}

export interface QueueReaderDeps {
  readQueues: () => Promise<QueueReading>;
  monotonicMs: () => number;
  timeoutMs?: number;
}

/** Scrapes that come together, or soon after each other, share one statement. */
const keptMs = 5000;
/** A scrape is given up after 10 s by default, and the other metrics say why the database does not answer. */
const timeoutDefaultMs = 2000;

export function createQueueReader({
  readQueues,
  monotonicMs,
  timeoutMs = timeoutDefaultMs,
}: QueueReaderDeps): QueueReader {
  let reading: QueueReading | undefined;
  let readMs = Number.NEGATIVE_INFINITY;
  let pending: Promise<void> | undefined;
  let failures = 0;

  /** At most one statement is under way, also if it takes longer than a scrape waits for it. */
  function refresh(): Promise<void> {
    pending ??= readQueues()
      .then(
        (read) => {
          reading = read;
        },
        () => {
          reading = undefined;
          failures += 1;
        },
      )
      .then(() => {
        readMs = monotonicMs();
        pending = undefined;
      });
    return pending;
  }

  return {
    read: async () => {
      if (monotonicMs() - readMs < keptMs) return reading;
      const inTime = await isInTime(refresh(), timeoutMs);
      return inTime ? reading : undefined;
    },
    failures: () => failures,
  };
}

async function isInTime(work: Promise<void>, timeoutMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), timeoutMs);
  });
  try {
    return await Promise.race([work.then(() => true), tooLate]);
  } finally {
    clearTimeout(timer);
  }
}
