import { randomUUID } from "node:crypto";
import type { Has } from "./plain-server.js";

/** Members of a transaction as GET shows them. */

export function showReference(reference: string, has: Has): string {
  if (has("reference-mangled")) return Buffer.from(reference, "utf8").toString("latin1");
  if (has("reference-in-lower-case")) return reference.toLowerCase();
  if (has("reference-cut")) return reference.slice(0, 255);
  if (has("reference-cut-at-64")) return reference.slice(0, 64);
  if (has("reference-escaped")) return reference.replaceAll("<", "&lt;");
  return has("reference-trimmed") ? reference.trim() : reference;
}

/** `isOther` at the end of a run, of transactions that no earlier check looks at again. */
export function showAmount(amount: string, has: Has, isOther: boolean): string | number {
  if (isOther && has("amount-rounded-at-the-end")) return String(Number(amount));
  if (has("amount-shown-as-number")) return Number(amount);
  if (has("amount-cut-to-cents")) return String(Math.trunc(Number(amount) * 100) / 100);
  if (has("amount-rounded")) return Number(amount).toFixed(0);
  return has("amount-through-double") ? String(Number(amount)) : amount;
}

/** Whether a fault takes an id for another one that is like it. */
export const isLikeId = (own: string, id: string, has: Has) =>
  (has("ids-compared-as-patterns") && id.endsWith("_") && own.startsWith(id.slice(0, -1))) ||
  (has("ids-compared-by-prefix") && own.startsWith(id)) ||
  (has("ids-compared-without-suffix") && id.startsWith(own)) ||
  (has("ids-in-any-case") && own.toLowerCase() === id.toLowerCase());

const reusedIds = 30;

/** The id of a new transaction, of which there are so many. */
export function newId(count: number, has: Has): string {
  if (has("ids-reused")) return `tx_${String(count % reusedIds).padStart(12, "0")}`;
  if (has("numeric-id")) return String(100_000 + count);
  if (has("numeric-id-large")) return String(2n ** 60n + BigInt(count));
  return (has("ids-in-any-case") ? "Tx_" : "tx_") + randomUUID().replaceAll("-", "");
}
