import type { FastifyRequest } from "fastify";
import { Refusal } from "../refusal.js";

/** Visible ASCII other than the quote and the backslash. */
const barePattern = /^[\x21\x23-\x5b\x5d-\x7e]{1,255}$/;

export function isIdempotencyKey(text: string): boolean {
  return barePattern.test(text);
}

/**
 * The request's idempotency key, if it has one; throws if it is malformed. A quoted key (a structured-field string) and a bare one are
 * the same.
 */
export function readIdempotencyKey(request: FastifyRequest): string | undefined {
  const header = request.headers["idempotency-key"];
  if (header === undefined) return undefined;
  const text = typeof header === "string" ? header : "";
  const key = text.length >= 2 && text.startsWith('"') && text.endsWith('"') ? text.slice(1, -1) : text;
  if (!isIdempotencyKey(key)) throw new Refusal("IDEMPOTENCY_KEY_INVALID");
  return key;
}

export function requireIdempotencyKey(request: FastifyRequest): string {
  const key = readIdempotencyKey(request);
  if (key === undefined) throw new Refusal("IDEMPOTENCY_KEY_MISSING");
  return key;
}
