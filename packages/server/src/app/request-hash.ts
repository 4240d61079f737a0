import { createHash } from "node:crypto";
import { canonicalJson } from "@bursar/domain";

/** What tells whether two requests under one idempotency key ask for the same, whatever the order of their fields. */
export function hashRequest(body: unknown): Uint8Array {
  return createHash("sha256").update(canonicalJson(body)).digest();
}
