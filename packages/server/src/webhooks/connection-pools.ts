import type { LookupFunction, Socket } from "node:net";
import { LRUCache } from "lru-cache";
import type { Pool } from "undici";
import { clientHandshake } from "../runtime/client-handshake.js";

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
/** For an answer as it is on the wire: of the body 64 KiB are read, of the headers 16. Extensions of chunks and trailers are read by nobody. */
const wireBytesMax = 262_144;

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
    const connect = undici.buildConnector({
      lookup,
      timeout: connectTimeoutMs,
      // Set here, so that no environment variable can switch it off.
      rejectUnauthorized: true,
      allowH2: false,
      ...clientHandshake,
      ...(ca === undefined ? {} : { ca }),
    });
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
      connect: (target, onConnected) =>
        connect(target, (...outcome) => {
          // There is none if the connection failed.
          const socket: Socket | null | undefined = outcome[1];
          if (socket) boundAnswers(socket);
          onConnected(...outcome);
        }),
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

/** A pool writes one request to a connection at a time, and reads its answer before the next. */
function boundAnswers(socket: Socket): void {
  let [written, begin, read] = [0, 0, 0];
  socket.on("readable", () => {
    if (socket.bytesWritten !== written) [written, begin] = [socket.bytesWritten, read];
    read = socket.bytesRead;
    if (read - begin > wireBytesMax) socket.destroy(new AnswerTooLongError());
  });
}

class AnswerTooLongError extends Error {
  readonly code = "ANSWER_TOO_LONG";
}
