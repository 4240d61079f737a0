import { setTimeout as sleep } from "node:timers/promises";
import {
  fullBucket,
  msUntilTokens,
  type Quota,
  type TokenBucket,
  takeTokens,
  toRetryAfterSeconds,
} from "@bursar/domain";
import { addressBlock } from "../../runtime/address-block.js";
import { createBoundedGate } from "../../runtime/concurrency/bounded-gate.js";
import { createRecentCache } from "../../runtime/recent-cache.js";

/**
 * Limits the bytes of static files that are sent to an address. They have a bucket of their own: a neighbour who sends wrong proofs, or asks
 * for files without end, must not keep the page for logging in from somebody on the same address. Once the bucket is empty, the connections
 * of the address take turns, so one with many requests does not delay the first of another.
 */
export interface FilePace {
  /** Resolves when a file may be sent: with 0, or with the seconds after which to ask again. */
  admit: (
    reader: FileReader,
    sizeBytes: number,
    /** Called if it has to wait. What it is given ends the waiting. */
    onWait?: (leave: () => void) => void,
  ) => Promise<number>;
}

interface FileReader {
  address: string;
  connection: string;
}

/** To refuse a request costs as much as to send this much from memory, so less is always sent: all that a browser asks for again. */
const freeBytes = 4096;
const bytesPerToken = 4096;
const blocksMax = 10_000;
/** A request whose turn has come waits no longer than this for its tokens. */
const patienceMs = 5000;
const turns = { concurrentMax: 2000, concurrentOfKeyMax: 1, waitingMax: 4000, waitingOfKeyMax: 1000 };

export function createFilePace(quota: Quota, monotonicMs: () => number): FilePace {
  const buckets = createRecentCache<TokenBucket>(blocksMax);
  const gate = createBoundedGate(turns);

  /** Takes the tokens if the bucket is not in debt. Otherwise the milliseconds until it is not. */
  function take(block: string, tokens: number): number {
    const nowMs = monotonicMs();
    const bucket = buckets.get(block) ?? fullBucket(quota, nowMs);
    const waitMs = msUntilTokens(quota, bucket, nowMs, 1);
    if (waitMs === 0) buckets.set(block, takeTokens(quota, bucket, nowMs, 0, tokens).bucket);
    return waitMs;
  }

  async function waitAndTake(block: string, tokens: number): Promise<number> {
    for (;;) {
      const waitMs = take(block, tokens);
      if (waitMs === 0) return 0;
      if (waitMs > patienceMs) return toRetryAfterSeconds(waitMs);
      await sleep(waitMs);
    }
  }

  return {
    admit: async ({ address, connection }, sizeBytes, onWait) => {
      if (sizeBytes <= freeBytes) return 0;
      const block = addressBlock(address);
      const tokens = Math.ceil(sizeBytes / bytesPerToken);
      const waitSeconds = await gate.run(
        { key: block, member: connection },
        () => waitAndTake(block, tokens),
        onWait,
      );
      return waitSeconds === "full" ? 1 : waitSeconds;
    },
  };
}
