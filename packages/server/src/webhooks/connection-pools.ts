import type { LookupFunction } from "node:net";
import { Pool } from "undici";

export interface ConnectionPools {
  /** An owner's pool of an origin, such as `https://receiver.example`. */
  poolFor: (owner: string, origin: string) => Pool;
  /** Ends all connections, also those in use. */
  close: () => Promise<void>;
}

export interface ConnectionPoolsOptions {
  lookup: LookupFunction;
  /** Authorities to trust instead of the platform's own, for tests. */
  ca: string | undefined;
  connectTimeoutMs: number;
}

/** How many pools keep their connections; the one that was used longest ago makes room. */
const poolsMax = 512;
const connectionsPerOriginMax = 64;
/** Shorter than what common servers allow (5 s), so that a connection is seldom found closed when it is used again. */
const keepAliveMs = 4000;
const headerBytesMax = 16_384;

/** Kept connections, bounded in each pool and in the number of pools. */
export function createConnectionPools({
  lookup,
  ca,
  connectTimeoutMs,
}: ConnectionPoolsOptions): ConnectionPools {
  const pools = new Map<string, Pool>();

  const open = (origin: string) =>
    new Pool(origin, {
      connections: connectionsPerOriginMax,
      pipelining: 1,
      keepAliveTimeout: keepAliveMs,
      keepAliveMaxTimeout: keepAliveMs,
      maxHeaderSize: headerBytesMax,
      // The deadline of each request stands over all of it.
      headersTimeout: 0,
      bodyTimeout: 0,
      allowH2: false,
      connect: {
        lookup,
        timeout: connectTimeoutMs,
        // Said here, so that no environment variable can switch it off.
        rejectUnauthorized: true,
        ...(ca === undefined ? {} : { ca }),
      },
    });

  const closeOldest = () => {
    const [oldest] = pools;
    if (oldest === undefined) return;
    const [key, pool] = oldest;
    pools.delete(key);
    // Requests under way in it are finished.
    pool.close().catch(() => undefined);
  };

  return {
    poolFor: (owner, origin) => {
      const key = `${owner} ${origin}`;
      const known = pools.get(key);
      const pool = known ?? open(origin);
      // A map keeps the order in which keys were added: the first is the one used longest ago.
      pools.delete(key);
      pools.set(key, pool);
      if (known === undefined && pools.size > poolsMax) closeOldest();
      return pool;
    },
    close: async () => {
      await Promise.all([...pools.values()].map((pool) => pool.destroy()));
      pools.clear();
    },
  };
}
