import type { Dispatcher } from "undici";
import type { PostOutcome, UrlJudge, WebhookPost } from "../app/webhooks/webhook-post.js";
import { createConnectionPools } from "./connection-pools.js";
import {
  AddressRefusedError,
  createGuardedLookup,
  createHostResolver,
  type ResolveHost,
} from "./guarded-lookup.js";
import { createTargets, createUrlJudge, type UrlRules } from "./judge-url.js";

export interface GuardedPostOptions extends UrlRules {
  /** Left out, the DNS is asked. */
  resolveHost?: ResolveHost;
  /** Used by tests; see the guarded lookup and the pools. */
  dialAs?: (address: string) => string;
  ca?: string;
}

export interface GuardedPost {
  post: WebhookPost;
  /** Checks a URL when an endpoint is registered or changed. */
  judgeUrl: UrlJudge;
  close: () => Promise<void>;
}

const connectTimeoutMs = 10_000;
const retryAfterLengthMax = 64;
/** Responses such as 103 come before the answer. Each is parsed in the event loop: without end they took 9 s of 15. */
const informationalMax = 8;

/**
 * Posts to URLs that tenants choose. The URL is judged before each request and every address behind its name at each
 * connection; redirects are not followed; the response is bounded in time and size and is never decompressed.
 */
export function createGuardedPost({
  resolveHost = createHostResolver(),
  dialAs = (address) => address,
  ca,
  ...rules
}: GuardedPostOptions): GuardedPost {
  const judgeUrl = createUrlJudge(rules);
  const targetOf = createTargets(judgeUrl);
  const lookup = createGuardedLookup({ ...rules, resolveHost, dialAs });
  const pools = createConnectionPools({ lookup, ca, connectTimeoutMs });

  const post: WebhookPost = async ({ tenantId, url, headers, body, timeoutMs }) => {
    const startedMs = performance.now();
    const target = targetOf(url);
    if (!target.ok) return { kind: "refused", reason: target.reason, latencyMs: 0 };
    const request: Dispatcher.DispatchOptions = {
      method: "POST",
      path: target.path,
      headers: listHeaders(headers),
      body,
    };
    const pool = await pools.poolFor(tenantId, target.origin);
    return await dispatch(pool, request, timeoutMs, () => Math.round(performance.now() - startedMs));
  };

  return { post, judgeUrl, close: pools.close };
}

/** Returns the flat list that undici accepts without checks, with a header that asks for an uncompressed response. */
function listHeaders(headers: Readonly<Record<string, string>>): string[] {
  const list = ["accept-encoding", "identity"];
  for (const name in headers) list.push(name, headers[name] as string);
  return list;
}

/** One request on a pool, from its place in the queue to the end of its answer. */
function dispatch(
  pool: Dispatcher,
  request: Dispatcher.DispatchOptions,
  timeoutMs: number,
  latencyMs: () => number,
): Promise<PostOutcome> {
  return new Promise((resolve) => {
    let controller: Dispatcher.DispatchController | undefined;
    let isDone = false;
    const finish = (outcome: PostOutcome) => {
      if (isDone) return;
      isDone = true;
      clearTimeout(deadline);
      resolve(outcome);
    };
    // Undici says when it is about to write to a socket; until then nothing has left.
    const fail = (reason: string) =>
      finish({ kind: "failed", reason, sent: controller !== undefined, latencyMs: latencyMs() });
    const giveUp = () => controller?.abort(new Error("no more of the response is needed"));
    const deadline = setTimeout(() => {
      fail(`no whole answer within ${timeoutMs} ms`);
      giveUp();
    }, timeoutMs);

    const answer = createAnswerReader();
    let [status, informational] = [0, 0];
    let retryAfter: string | undefined;
    const finishAnswered = () =>
      finish({ kind: "answered", status, retryAfter, excerpt: answer.excerpt(), latencyMs: latencyMs() });
    pool.dispatch(request, {
      onRequestStart: (started) => {
        // The deadline may have passed while it waited for a connection: then it must not be sent.
        if (isDone) started.abort(new Error("the deadline has passed"));
        else controller = started;
      },
      onResponseStart: (_controller, statusCode, headers) => {
        if (statusCode < 200) {
          informational += 1;
          if (informational <= informationalMax) return;
          fail("the answer does not begin");
          giveUp();
          return;
        }
        status = statusCode;
        retryAfter = [headers["retry-after"]].flat()[0]?.slice(0, retryAfterLengthMax);
      },
      onResponseData: (_controller, chunk) => {
        if (isDone || answer.take(chunk)) return;
        finishAnswered();
        giveUp();
      },
      onResponseEnd: finishAnswered,
      onResponseError: (_controller, error) => {
        if (error instanceof AddressRefusedError)
          finish({ kind: "refused", reason: error.message, latencyMs: latencyMs() });
        else fail(describeFailure(error));
      },
    });
  });
}

/** Reads a response up to a bound, and keeps its beginning. */
interface AnswerReader {
  /** Returns false when enough has been read. */
  take: (chunk: Uint8Array) => boolean;
  excerpt: () => string;
}

const answerBytesMax = 65_536;
/** Each piece costs some microseconds, whatever its size: an answer in pieces of one byte took 100 ms. */
const answerPiecesMax = 512;
const excerptBytesMax = 1024;

function createAnswerReader(): AnswerReader {
  const kept: Uint8Array[] = [];
  let keptBytes = 0;
  let [readBytes, pieces] = [0, 0];
  return {
    take: (chunk) => {
      readBytes += chunk.length;
      pieces += 1;
      if (keptBytes < excerptBytesMax) {
        const part = Uint8Array.prototype.slice.call(chunk, 0, excerptBytesMax - keptBytes);
        keptBytes += part.length;
        kept.push(part);
      }
      return readBytes <= answerBytesMax && pieces <= answerPiecesMax;
    },
    // PostgreSQL cannot store the character zero in a string.
    excerpt: () =>
      kept.length === 0 ? "" : Buffer.concat(kept).toString("utf8").replaceAll("\u0000", "\ufffd"),
  };
}

/** How a failed connection is described to the owner of an endpoint, by the code of the error. Other errors are shown by their code. */
const failureSentences: Record<string, string> = {
  ECONNREFUSED: "the connection was refused",
  ECONNRESET: "the connection was reset",
  EPIPE: "the connection was reset",
  UND_ERR_SOCKET: "the connection was closed before the whole answer had arrived",
  UND_ERR_CONNECT_TIMEOUT: "no connection in time",
  ETIMEDOUT: "no connection in time",
  EHOSTUNREACH: "the address cannot be reached",
  ENETUNREACH: "the address cannot be reached",
  ENOTFOUND: "the name has no address",
  ENODATA: "the name has no address",
  ANSWER_TOO_LONG: "the answer is too long",
  UND_ERR_HEADERS_OVERFLOW: "the headers of the answer are too long",
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: "the length of the response differs from its Content-Length",
  CERT_HAS_EXPIRED: "the certificate has expired",
  CERT_NOT_YET_VALID: "the certificate is not valid yet",
  DEPTH_ZERO_SELF_SIGNED_CERT: "the certificate is self-signed",
  SELF_SIGNED_CERT_IN_CHAIN: "the certificate is by an unknown authority",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "the certificate is by an unknown authority",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "the certificate is by an unknown authority",
  ERR_TLS_CERT_ALTNAME_INVALID: "the certificate is for another name",
};

function describeFailure(error: Error): string {
  const code = codeOf(error);
  return failureSentences[code] ?? `the request failed (${code})`;
}

/** Several addresses that all fail come as one error with those of each inside. */
function codeOf(error: Error & { code?: unknown; errors?: unknown; cause?: unknown }): string {
  if (typeof error.code === "string" && error.code !== "") return error.code;
  const [inner] = Array.isArray(error.errors) ? error.errors : [error.cause];
  return inner instanceof Error ? codeOf(inner) : error.name;
}
