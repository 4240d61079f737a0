import type { LookupFunction } from "node:net";
import { LRUCache } from "lru-cache";
import type { Pool } from "undici";

export interface ConnectionPools {
  /** A tenant's pool of an origin, such as `https://receiver.example`. */
  poolFor: (tenantId: string, origin: string) => Promise<Pool>;
  /** Ends all connections, also those in use. */
  close: () => Promise<void>;
}

export interface ConnectionPoolsOptions {
  lookup: LookupFunction;
  /** Authorities to trust instead of the platform's own, for tests. */
  ca: string | undefined;
  connectTimeoutMs: number;
}

/** How many pools keep their connections; the one that was used longest ago is closed. */
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
  const pools = new LRUCache<string, Promise<Pool>>({
    max: poolsMax,
    dispose: (pool, _key, reason) => {
      // Requests under way in it are finished.
      if (reason === "evict") pool.then((open) => open.close()).catch(() => undefined);
    },
  });

  // Loaded with the first pool: it is a fifth of the code of the service, and many processes never send anything.
  const open = async (origin: string) => {
    const { default: undici } = await import("undici");
    return new undici.Pool(origin, {
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
        // Set here, so that no environment variable can switch it off.
        rejectUnauthorized: true,
        ...(ca === undefined ? {} : { ca }),
      },
    });
  };

  return {
    poolFor: (tenantId, origin) => {
      const key = `${tenantId} ${origin}`;
      const known = pools.get(key);
      if (known !== undefined) return known;
      const pool = open(origin);
      pools.set(key, pool);
      return pool;
    },
    close: async () => {
      await Promise.all([...pools.values()].map(async (pool) => (await pool).destroy()));
      pools.clear();
    },
  };
}
