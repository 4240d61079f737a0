import type { Has } from "./plain-server.js";

/** Members of a transaction as GET shows them. */

export function showReference(reference: string, has: Has): string {
  if (has("reference-mangled")) return Buffer.from(reference, "utf8").toString("latin1");
  if (has("reference-in-lower-case")) return reference.toLowerCase();
  if (has("reference-escaped")) return reference.replaceAll("<", "&lt;");
  return has("reference-trimmed") ? reference.trim() : reference;
}

export function showAmount(amount: string, has: Has): string | number {
  if (has("amount-shown-as-number")) return Number(amount);
  if (has("amount-rounded")) return Number(amount).toFixed(0);
  return has("amount-through-double") ? String(Number(amount)) : amount;
}
