import type { LookupFunction } from "node:net";
import { Pool } from "undici";

export interface ConnectionPools {
  /** The pool of an origin, such as `https://receiver.example`. */
  poolFor: (origin: string) => Pool;
  /** Ends all connections, also those in use. */
  close: () => Promise<void>;
}

export interface ConnectionPoolsOptions {
  lookup: LookupFunction;
  /** Authorities to trust instead of the platform's own, for tests. */
  ca: string | undefined;
  connectTimeoutMs: number;
}

/** How many origins keep their connections; the one that was used longest ago makes room. */
const originsMax = 512;
const connectionsPerOriginMax = 64;
/** Shorter than what common servers allow (5 s), so that a connection is seldom found closed when it is used again. */
const keepAliveMs = 4000;
const headerBytesMax = 16_384;

/** Kept connections, bounded per origin and in the number of origins. */
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
    const [origin, pool] = oldest;
    pools.delete(origin);
    // Requests under way in it are finished.
    pool.close().catch(() => undefined);
  };

  return {
    poolFor: (origin) => {
      const known = pools.get(origin);
      const pool = known ?? open(origin);
      // A map keeps the order in which keys were added: the first is the one used longest ago.
      pools.delete(origin);
      pools.set(origin, pool);
      if (known === undefined && pools.size > originsMax) closeOldest();
      return pool;
    },
    close: async () => {
      await Promise.all([...pools.values()].map((pool) => pool.destroy()));
      pools.clear();
    },
  };
}
