import cors from "@fastify/cors";
import type { FastifyInstance } from "fastify";

/** What a script of an allowed origin may send, besides what browsers always allow. */
const requestHeaders = [
  "authorization",
  "content-digest",
  "content-type",
  "idempotency-key",
  "if-match",
  "if-none-match",
  "prefer",
  "signature",
  "signature-input",
  "x-request-id",
];

/** What it may read of a response. */
const responseHeaders = [
  "bursar-version",
  "deprecation",
  "etag",
  "idempotent-replayed",
  "link",
  "location",
  "ratelimit",
  "ratelimit-policy",
  "retry-after",
  "sunset",
  "www-authenticate",
  "x-request-id",
];

/**
 * Allows scripts of the origins that the operator has configured; without configuration, of none. Credentials are never allowed: a
 * script sends its token itself, so that no other page can use it. Preflights are enabled by routes that know which methods
 * their path has (`method-not-allowed.ts`). Register it before any route is collected: the plugin adds a wildcard route.
 */
export async function installCors(app: FastifyInstance, origins: string | undefined): Promise<void> {
  if (origins === undefined) return;
  const allowed = new Set(origins.split(","));
  const isForAll = allowed.has("*");
  await app.register(cors, {
    origin: (origin, done) => {
      if (origin === undefined || !(isForAll || allowed.has(origin))) done(null, false);
      else done(null, isForAll ? "*" : origin);
    },
    allowedHeaders: requestHeaders,
    exposedHeaders: responseHeaders,
    maxAge: 600,
    preflight: false,
    // A strict preflight would be refused in plain text, which is not the contract's error body.
    strictPreflight: false,
  });
}
