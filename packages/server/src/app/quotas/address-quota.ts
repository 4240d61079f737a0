import {
  fullBucket,
  msUntilTokens,
  type Quota,
  type TokenBucket,
  takeTokens,
  toRetryAfterSeconds,
} from "@bursar/domain";
import { addressBlock } from "../../runtime/address-block.js";
import { createRecentCache } from "../../runtime/recent-cache.js";

/**
 * Limits unauthenticated requests by address: those with a missing or invalid token, and failures under `/oauth`. Valid credentials are
 * accepted whatever their address has sent; `FailureThrottle` slows down callers that guess secrets. Each process counts on its own, because an
 * unauthenticated caller must not cause work in the database.
 */
export interface AddressQuota {
  /** The seconds that an address has to wait; 0 if it need not. */
  wait: (address: string) => number;
  /** Counts a request. 0 admits it; any other number is the seconds to wait, and nothing is counted. */
  take: (address: string) => number;
  counts: { refused: number };
}

const blocksMax = 10_000;

export function createAddressQuota(quota: Quota, monotonicMs: () => number): AddressQuota {
  const buckets = createRecentCache<TokenBucket>(blocksMax);
  const counts = { refused: 0 };

  function secondsToWait(bucket: TokenBucket, nowMs: number): number {
    const waitMs = msUntilTokens(quota, bucket, nowMs, 1);
    if (waitMs === 0) return 0;
    counts.refused += 1;
    return toRetryAfterSeconds(waitMs);
  }

  return {
    counts,
    wait: (address) => {
      const bucket = buckets.get(addressBlock(address));
      return bucket === undefined ? 0 : secondsToWait(bucket, monotonicMs());
    },
    take: (address) => {
      const block = addressBlock(address);
      const nowMs = monotonicMs();
      const taken = takeTokens(quota, buckets.get(block) ?? fullBucket(quota, nowMs), nowMs, 1);
      buckets.set(block, taken.bucket);
      return taken.granted === 1 ? 0 : secondsToWait(taken.bucket, nowMs);
    },
  };
}
