import { hash } from "node:crypto";
import { canonicalJson } from "@bursar/domain";

/**
 * What tells whether two requests under one idempotency key ask for the same, whatever the order of their fields. As hexadecimal
 * text, because that is what it travels as; made in one step, which takes a fifth of the time of three.
 */
export function hashRequest(body: unknown): string {
  return hash("sha256", canonicalJson(body), "hex");
}
