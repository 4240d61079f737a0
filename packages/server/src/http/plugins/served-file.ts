import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { constants, gzip } from "node:zlib";
import type { FastifyInstance } from "fastify";
import type { AddressQuota } from "../../app/quotas/address-quota.js";
import { namesEncoding } from "../accepted-encodings.js";
import { namesTag } from "../entity-tags.js";
import { Refusal } from "../refusal.js";

export interface ServedFile {
  path: string;
  type: string;
  headers?: Readonly<Record<string, string>>;
  /** Called at the first request. */
  content: () => string | Buffer;
}

interface Prepared {
  tag: string;
  plain: Buffer;
  compressed: Buffer;
}

const compress = promisify(gzip);

/**
 * Serves a document that is the same for every caller. It is written and compressed once: the same bytes serve all responses, however many
 * are waiting to be read. It needs no token, so it counts against the quota of the caller's address.
 */
export function serveFile(
  app: FastifyInstance,
  { path, type, headers = {}, content }: ServedFile,
  addresses: Pick<AddressQuota, "take">,
): void {
  let prepared: Promise<Prepared> | undefined;
  app.get(path, async (request, reply) => {
    const waitSeconds = addresses.take(request.ip);
    if (waitSeconds > 0)
      throw new Refusal("RATE_LIMITED", { headers: { "retry-after": String(waitSeconds) } });
    prepared ??= prepare(Buffer.from(content()));
    const { tag, plain, compressed } = await prepared;
    reply.headers({ ...headers, etag: tag, vary: "accept-encoding", "cache-control": "no-cache" });
    if (namesTag(request.headers["if-none-match"], tag)) return reply.code(304).send();
    reply.type(type);
    if (!namesEncoding(request.headers["accept-encoding"], "gzip")) return reply.send(plain);
    return reply.header("content-encoding", "gzip").send(compressed);
  });
}

async function prepare(plain: Buffer): Promise<Prepared> {
  const digest = createHash("sha256").update(plain).digest("base64url");
  // Weak, because it names both encodings.
  return {
    tag: `W/"${digest}"`,
    plain,
    compressed: await compress(plain, { level: constants.Z_BEST_COMPRESSION }),
  };
}
