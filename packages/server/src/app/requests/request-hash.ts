import { hash } from "node:crypto";
import { canonicalJson } from "@bursar/domain";

/**
 * Identifies the content of a request under an idempotency key, independent of the order of its fields. Hexadecimal, as it is sent to
 * the database; `crypto.hash` takes a fifth of the time of `createHash`.
 */
export function hashRequest(body: unknown): string {
  return hash("sha256", canonicalJson(body), "hex");
}
