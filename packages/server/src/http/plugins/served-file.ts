import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { constants, gzip } from "node:zlib";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { FilePace } from "../../app/quotas/file-pace.js";
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
 * are waiting to be read. It needs no token, so its bytes count against what the caller's address may read.
 */
export function serveFile(
  app: FastifyInstance,
  { path, type, headers = {}, content }: ServedFile,
  files: FilePace,
): void {
  let prepared: Promise<Prepared> | undefined;
  app.get(path, async (request, reply) => {
    prepared ??= prepare(Buffer.from(content()));
    const { tag, plain, compressed } = await prepared;
    if (namesTag(request.headers["if-none-match"], tag))
      return reply
        .headers({ ...headers, ...validators(tag) })
        .code(304)
        .send();
    const isCompressed = namesEncoding(request.headers["accept-encoding"], "gzip");
    const sent = isCompressed ? compressed : plain;
    await awaitPace(files, sent, request, reply);
    reply.headers({ ...headers, ...validators(tag) }).type(type);
    return (isCompressed ? reply.header("content-encoding", "gzip") : reply).send(sent);
  });
}

const validators = (tag: string) => ({ etag: tag, vary: "accept-encoding", "cache-control": "no-cache" });

/** Waits until a file may be sent to the caller. A caller that has gone leaves its place to others. */
export async function awaitPace(
  files: FilePace,
  { length }: Buffer,
  { ip, socket, method }: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  // Its body is not sent.
  if (method === "HEAD") return;
  const reader = { address: ip, connection: String(socket.remotePort ?? "") };
  const waitSeconds = await files.admit(reader, length, (leave) => reply.raw.once("close", leave));
  if (waitSeconds > 0) throw new Refusal("RATE_LIMITED", { headers: { "retry-after": String(waitSeconds) } });
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
