import type { Pool } from "undici";
import { clientHandshake } from "../../../runtime/client-handshake.js";
import { type IsLogKept, readWithoutLogs } from "./answers/log-filter.js";
import { type Cut, readCut } from "./answers/read-cut.js";

export type PostResult =
  | {
      readonly kind: "answered";
      readonly status: number;
      readonly retryAfterMs: number;
      readonly text: string;
    }
  | { readonly kind: "too_large" }
  | { readonly kind: "timed_out"; readonly reason: string }
  | { readonly kind: "failed"; readonly reason: string };

/** Posts JSON to one URL. Neither a result nor an error contains any part of the URL. */
export interface JsonPost {
  readonly post: (body: string, limits: AnswerLimits) => Promise<PostResult>;
  /** The string without anything that is secret in the URL: nodes repeat keys in their messages. */
  readonly redact: (text: string) => string;
  readonly close: () => Promise<void>;
}

interface AnswerLimits {
  readonly bytesMax: number;
  readonly timeoutMs?: number;
  /** The answer is read without its other logs, and what is left of it is bounded. */
  readonly isLogKept?: IsLogKept | undefined;
  readonly cut?: Cut | undefined;
  /** Ends the request before its time. */
  readonly givenUp?: AbortSignal | undefined;
}

/**
 * How many times as much as is left of an answer can be read: 256 MiB. The most bytes for its gas has a log without topics and data, 380 gas and
 * some 370 bytes of JSON, so a receipt has about a byte for each unit of gas. On Ethereum it can have 17 MB, as a transaction has at most 2^24 gas,
 * and 60 MB a block. So this is enough for transactions and blocks of 250 million.
 */
const filteredFactor = 8;

export interface JsonPostLimits {
  /** For all of a request, unless it has one of its own: from the wait for a connection to the last byte of the answer. */
  readonly timeoutMs: number;
}

const connectionsMax = 8;
/** Shorter than what common servers allow (5 s), so that a connection is seldom found closed when it is used again. */
const keepAliveMs = 4000;

/** `url` is http or https, and may have a user and a password. */
export function createJsonPost(url: string, { timeoutMs }: JsonPostLimits): JsonPost {
  const { origin, path, authorization, secrets } = readUrl(url);
  let pool: Promise<Pool> | undefined;
  const headers = { "content-type": "application/json", ...authorization };
  return {
    post: async (body, { bytesMax, timeoutMs: ownTimeoutMs = timeoutMs, isLogKept, cut, givenUp }) => {
      const { signal, release } = endAfter(ownTimeoutMs, givenUp);
      try {
        pool ??= openPool(origin, timeoutMs);
        const response = await (await pool).request({ method: "POST", path, headers, body, signal });
        const filtered = { leftMax: bytesMax, readMax: filteredFactor * bytesMax };
        const bytes = await (isLogKept === undefined
          ? readCut(response.body, cut, filtered)
          : readWithoutLogs(response.body, isLogKept, filtered));
        if (bytes === undefined) return { kind: "too_large" };
        const text = bytes.toString("utf8");
        const retryAfterMs = readRetryAfter(response.headers["retry-after"]);
        return { kind: "answered", status: response.statusCode, retryAfterMs, text };
      } catch (error) {
        if (error instanceof Error && error.name === timeoutName)
          return { kind: "timed_out", reason: `no whole answer within ${ownTimeoutMs} ms` };
        return { kind: "failed", reason: describeFailure(error) };
      } finally {
        release();
      }
    },
    redact: (text) => secrets.reduce((redacted, secret) => redacted.replaceAll(secret, "[redacted]"), text),
    close: async () => (await pool)?.destroy(),
  };
}

const timeoutName = "TimeoutError";

/**
 * Aborts after the time, or when the request is given up. `AbortSignal.any` refers to its sources weakly, and so does the timer of
 * `AbortSignal.timeout`: garbage collection can remove the timeout of a request under way, and nothing else would end it.
 */
function endAfter(timeoutMs: number, givenUp: AbortSignal | undefined) {
  const controller = new AbortController();
  const giveUp = () => controller.abort(givenUp?.reason);
  const timer = setTimeout(
    () => controller.abort(new DOMException("the request has timed out", timeoutName)),
    timeoutMs,
  );
  if (givenUp?.aborted === true) giveUp();
  else givenUp?.addEventListener("abort", giveUp);
  const release = () => {
    clearTimeout(timer);
    givenUp?.removeEventListener("abort", giveUp);
  };
  return { signal: controller.signal, release };
}

/** The library is loaded with the first request: it is a fifth of the code of the service. */
async function openPool(origin: string, timeoutMs: number): Promise<Pool> {
  const { default: undici } = await import("undici");
  return new undici.Pool(origin, {
    connections: connectionsMax,
    pipelining: 1,
    keepAliveTimeout: keepAliveMs,
    keepAliveMaxTimeout: keepAliveMs,
    // The timeout of each request covers these.
    headersTimeout: 0,
    bodyTimeout: 0,
    allowH2: false,
    connect: { timeout: timeoutMs, rejectUnauthorized: true, ...clientHandshake },
  });
}

/** An invalid URL is an error that says nothing of it: Node's own contains all of it. */
function readUrl(text: string) {
  if (!URL.canParse(text)) throw new Error("the URL of a node is not a URL");
  const url = new URL(text);
  if (url.protocol !== "http:" && url.protocol !== "https:")
    throw new Error("the URL of a node is neither http nor https");
  const { origin, username, password } = url;
  const path = `${url.pathname}${url.search}`;
  if (username === "" && password === "") return { origin, path, authorization: {}, secrets: secretsOf(url) };
  const credentials = Buffer.from(`${decode(username)}:${decode(password)}`).toString("base64");
  const authorization = { authorization: `Basic ${credentials}` };
  return { origin, path, authorization, secrets: [credentials, ...secretsOf(url)] };
}

/** Shorter parts, such as `v3`, are no secrets, and would make messages unreadable. */
const secretLengthMin = 6;

function secretsOf(url: URL): string[] {
  const { username, password, pathname, searchParams, host, search } = url;
  const parts = [username, password, host, search, pathname, ...host.split("."), ...pathname.split("/")];
  const all = [...parts, ...searchParams.values()].flatMap((part) => [part, decode(part)]);
  const secrets = new Set(all.filter((part) => part.length >= secretLengthMin));
  // The longest first: a part of another must not leave the rest of it.
  return [...secrets].sort((a, b) => b.length - a.length);
}

/** What is not encoded correctly stays as it is. */
function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

const retryAfterMaxMs = 60_000;

/** 0 if there is none, or if it is a date. */
function readRetryAfter(header: string | string[] | undefined): number {
  const seconds = Number([header].flat()[0] ?? 0);
  return Number.isFinite(seconds) && seconds > 0 ? Math.min(seconds * 1000, retryAfterMaxMs) : 0;
}

/** Only the code of an error: its message can contain the address. */
function describeFailure(error: unknown): string {
  return `the request failed (${codeOf(error)})`;
}

/** Several addresses that all fail come as one error with those of each inside. */
function codeOf(error: unknown): string {
  const { code, name, errors, cause } = (error ?? {}) as Record<string, unknown>;
  if (typeof code === "string" && code !== "") return code;
  const inner = Array.isArray(errors) ? errors[0] : cause;
  if (inner instanceof Error) return codeOf(inner);
  return typeof name === "string" ? name : "unknown";
}
