import type { FastifyRequest } from "fastify";
import { Refusal } from "../refusal.js";

/** Visible ASCII other than the quote and the backslash, bare or as a structured-field string: the same key either way. */
const keyPattern = /^(?:"([\x21\x23-\x5b\x5d-\x7e]{1,255})"|([\x21\x23-\x5b\x5d-\x7e]{1,255}))$/;

/** The request's idempotency key, if it has one; a malformed one ends the request. */
export function readIdempotencyKey(request: FastifyRequest): string | undefined {
  const header = request.headers["idempotency-key"];
  if (header === undefined) return undefined;
  const match = typeof header === "string" ? keyPattern.exec(header) : null;
  if (match === null) throw new Refusal("IDEMPOTENCY_KEY_INVALID");
  return match[1] ?? match[2];
}
