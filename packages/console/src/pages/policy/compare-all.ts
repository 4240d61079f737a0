import type { Transaction } from "@bursar/client";
import { pause } from "../../live/backoff";
import type { Compared, Outcome } from "./compare-payments";

export interface Changed {
  transaction: Transaction;
  before: Outcome;
  after: Outcome;
}

export interface Tally {
  read: number;
  skipped: number;
  changed: readonly Changed[];
}

interface CompareAll {
  pages: (signal: AbortSignal) => AsyncIterable<{ data: Transaction[] }>;
  compare: (transaction: Transaction, signal: AbortSignal) => Promise<Compared | undefined>;
  /** How long to wait before the next one, so that enough of the quota is left. */
  pauseMs: () => number;
  max: number;
  show: (tally: Tally) => void;
  signal: AbortSignal;
}

const atOnce = 2;

/** Compares the newest transactions, two at a time, until there are `max` of them. The first error, or the signal, ends all of it. */
export async function compareAll({ pages, compare, pauseMs, max, show, signal }: CompareAll): Promise<void> {
  const failing = new AbortController();
  const ending = AbortSignal.any([signal, failing.signal]);
  let tally: Tally = { read: 0, skipped: 0, changed: [] };
  const judge = async (transaction: Transaction) => {
    const compared = await compare(transaction, ending);
    if (ending.aborted) return;
    const { read, skipped, changed } = tally;
    tally = {
      read: read + 1,
      skipped: compared === undefined ? skipped + 1 : skipped,
      changed:
        compared === undefined || compared.isSame ? changed : [...changed, { transaction, ...compared }],
    };
    show(tally);
  };
  const work = async (queue: Transaction[]) => {
    while (!ending.aborted) {
      await pause(pauseMs(), ending);
      const next = ending.aborted ? undefined : queue.shift();
      if (next === undefined) return;
      await judge(next);
    }
  };
  try {
    let left = max;
    for await (const { data } of pages(ending)) {
      const queue = data.slice(0, left);
      left -= queue.length;
      await Promise.all(Array.from({ length: atOnce }, () => work(queue)));
      if (left === 0 || ending.aborted) return;
    }
  } finally {
    failing.abort();
  }
}
