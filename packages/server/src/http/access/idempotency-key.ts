import type { FastifyRequest } from "fastify";
import { Refusal } from "../refusal.js";

/** Visible ASCII other than the quote and the backslash. */
const barePattern = /^[\x21\x23-\x5b\x5d-\x7e]{1,255}$/;

export function isIdempotencyKey(key: string): boolean {
  return barePattern.test(key);
}

/**
 * The request's idempotency key, if it has one; throws if it is malformed. A quoted key (a structured-field string) and a bare one are
 * the same.
 */
export function readIdempotencyKey(request: FastifyRequest): string | undefined {
  const header = request.headers["idempotency-key"];
  if (header === undefined) return undefined;
  const value = typeof header === "string" ? header : "";
  const key = value.length >= 2 && value.startsWith('"') && value.endsWith('"') ? value.slice(1, -1) : value;
  if (!isIdempotencyKey(key)) throw new Refusal("IDEMPOTENCY_KEY_INVALID");
  return key;
}

export function requireIdempotencyKey(request: FastifyRequest): string {
  const key = readIdempotencyKey(request);
  if (key === undefined) throw new Refusal("IDEMPOTENCY_KEY_MISSING");
  return key;
}
