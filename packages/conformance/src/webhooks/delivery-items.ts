import { isObject } from "../http/reply.js";
import type { Delivery } from "./receiver.js";

/**
 * The items of a notification: `event`, `signature` and `delivery_id`, each a field of the body or a header. A header can have a prefix
 * (`X-`, `Webhook-`, a vendor's name) and hyphens for underscores, because the contract does not say how a header is spelt.
 */
export function itemOf(delivery: Delivery, name: "event" | "signature" | "delivery_id"): string | undefined {
  const field = isObject(delivery.json) ? delivery.json[name] : undefined;
  if (typeof field === "string" && field !== "") return field;
  const wanted = name.replace("_", "-");
  const header = delivery.headers.find(([own]) => {
    const spelt = own.toLowerCase().replaceAll("_", "-");
    return spelt === wanted || spelt.endsWith(`-${wanted}`);
  });
  return header?.[1] === "" ? undefined : header?.[1];
}

/** Whether a string value of the body, or a header, is or ends with this string. */
export function mentions(delivery: Delivery, text: string): boolean {
  return containsText(delivery.json, text) || delivery.headers.some(([, value]) => containsText(value, text));
}

/** The same, of a JSON value. */
export function containsText(value: unknown, text: string): boolean {
  if (typeof value === "string") return value === text || value.endsWith(`/${text}`);
  if (typeof value === "number") return String(value) === text;
  if (Array.isArray(value)) return value.some((item) => containsText(item, text));
  return isObject(value) && Object.values(value).some((item) => containsText(item, text));
}

/** A string of the body that is the state: at the given path of members, or the innermost member with the same name as in GET. */
export function findMember(value: unknown, names: readonly string[]): string | undefined {
  if (Array.isArray(value)) {
    for (const item of value) {
      const found = findMember(item, names);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  if (!isObject(value)) return undefined;
  for (const name of names) {
    const own = value[name];
    if (typeof own === "string") return own;
  }
  return findMember(Object.values(value), names);
}
