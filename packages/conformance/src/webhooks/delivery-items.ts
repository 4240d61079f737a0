import { percentEncode } from "../http/percent-encode.js";
import { isObject, parseJson } from "../http/reply.js";
import type { Place } from "../target/target.js";
import type { Delivery } from "./receiver.js";

/**
 * The items of a notification: `event`, `signature` and `delivery_id`, each a field of the body or a header. A header can have a prefix
 * (`X-`, `Webhook-`, a vendor's name), and hyphens or capitals for underscores, because the contract does not say how a header is spelt. A field can be
 * inside of another one, because it does not say either how the body is built.
 */
export function itemOf(delivery: Delivery, name: "event" | "signature" | "delivery_id"): string | undefined {
  const place = delivery.places[name];
  // Where the signature is has to be stated in any case, so it can also be under its usual name.
  if (place !== undefined && name !== "signature") return itemAt(delivery, place) || undefined;
  const field = findMember(delivery.json, [name]) ?? (name === "event" ? kindIn(delivery.json) : undefined);
  if (field !== undefined) return field;
  return headerNamed(delivery, name) || (place === undefined ? undefined : itemAt(delivery, place));
}

/** Header names have no case, so `PayDeliveryId` can arrive as `paydeliveryid`. One whose last words are the name comes first. */
function headerNamed({ headers }: Delivery, name: string): string | undefined {
  const words = name.replace("_", "-");
  const spelt = headers.map(([own, value]) => [own.toLowerCase().replaceAll("_", "-"), value] as const);
  const found =
    spelt.find(([own]) => own === words || own.endsWith(`-${words}`)) ??
    spelt.find(([own]) => own.replaceAll("-", "").endsWith(words.replaceAll("-", "")));
  return found?.[1];
}

/** The kind in an event that is an object. */
function kindIn(json: unknown): string | undefined {
  const event = isObject(json) && Object.hasOwn(json, "event") ? json["event"] : undefined;
  return isObject(event) ? findMember(event, ["type", "name", "kind"]) : undefined;
}

/** The kinds of events that a notification names: a batch can name one for each of its items. */
export function eventsOf(delivery: Delivery): string[] {
  const names = new Set<string>();
  const look = (value: unknown) => {
    const inner = unwrap(value);
    if (!Array.isArray(inner) && !isObject(inner)) return;
    const own = isObject(inner) && Object.hasOwn(inner, "event") ? textOf(inner["event"]) : undefined;
    if (own !== undefined) names.add(own);
    for (const one of Object.values(inner)) look(one);
  };
  look(delivery.json);
  const first = itemOf(delivery, "event");
  return first === undefined ? [] : [...names.add(first)];
}

/** Whether a value of the body, or a header, is this string or a path that ends with it. The body can be JSON, a form or plain text. */
export function mentions(delivery: Delivery, text: string): boolean {
  const plain = plainTextOf(delivery);
  if (plain !== undefined && /^[\w-]+$/.test(text) && !/^\d+$/.test(text) && !plain.includes(text))
    return false;
  const isRead = (value: string) => headerReadings(value).some((one) => containsText(one, text));
  if (delivery.headers.some(([, value]) => isRead(value))) return true;
  if (delivery.json !== undefined) return containsText(delivery.json, text);
  const escaped = text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`(?<![\\w-])${escaped}(?![\\w-])`).test(delivery.decoded.toString("utf8"));
}

const plainTexts = new WeakMap<Delivery, string | undefined>();

/** The whole notification, if nothing in it is escaped: then a name that is nowhere in it is in none of its parts. */
function plainTextOf(delivery: Delivery): string | undefined {
  if (plainTexts.has(delivery)) return plainTexts.get(delivery);
  const text = `${delivery.headers.map(([, value]) => value).join("\n")}\n${delivery.decoded.toString("utf8")}`;
  const plain = /[%&]|\\u/i.test(text) ? undefined : text;
  plainTexts.set(delivery, plain);
  return plain;
}

/** A header as it is, as the UTF-8 that its bytes are, and without percent-encoding: which of them is meant is open. */
export function headerReadings(value: string): string[] {
  const readings = [value];
  if (/[\x80-\xff]/.test(value)) readings.push(Buffer.from(value, "latin1").toString("utf8"));
  if (value.includes("%")) readings.push(unescapePercent(value));
  return readings;
}

function unescapePercent(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

/** The same, of a JSON value. */
export function containsText(value: unknown, text: string): boolean {
  const inner = unwrap(value);
  if (typeof inner === "string") return inner === text || isPathTo(inner, text);
  if (typeof inner === "number") return isNamed(inner, text);
  if (Array.isArray(inner)) return inner.some((item) => containsText(item, text));
  return isObject(inner) && Object.values(inner).some((item) => containsText(item, text));
}

/** Whether a string or a number is this name. A number above 2^53 was rounded when it was parsed. */
export const isNamed = (value: unknown, name: string) =>
  String(value) === name || (typeof value === "number" && value > 2 ** 53 && Number(name) === value);

/** Most values are no path, and every value of every notification is looked at for every transaction. */
const isPathTo = (value: string, text: string) =>
  value.includes("/") && (value.endsWith(`/${text}`) || value.endsWith(`/${percentEncode(text)}`));

/** A string that is itself a JSON document counts as what it contains: some services sign it as a string. */
export function unwrap(value: unknown): unknown {
  if (typeof value !== "string" || !/^\s*[[{]/.test(value)) return value;
  return parseJson(value) ?? value;
}

/** A string or a number under one of these names, the outermost first. */
export function findMember(value: unknown, names: readonly string[]): string | undefined {
  let level = [unwrap(value)];
  while (level.length > 0) {
    const objects = level.filter(isObject);
    for (const name of names)
      for (const object of objects) {
        const own = Object.hasOwn(object, name) ? textOf(object[name]) : undefined;
        if (own !== undefined) return own;
      }
    level = level.flatMap((one) => (isObject(one) ? Object.values(one) : Array.isArray(one) ? one : []));
    level = level.map(unwrap).filter((one) => typeof one === "object" && one !== null);
  }
  return undefined;
}

export const textOf = (value: unknown) =>
  (typeof value === "string" && value !== "") || typeof value === "number" ? String(value) : undefined;

/** The places at which a notification has this string, or a path that ends with it. */
export function placesOf(delivery: Delivery, text: string): Place[] {
  const isThere = (value: unknown) => !isObject(value) && !Array.isArray(value) && containsText(value, text);
  const places: Place[] = delivery.headers
    .filter(([, value]) => isThere(value))
    .map(([name]): Place => `header.${name}`);
  const look = (value: unknown, path: string) => {
    const inner = unwrap(value);
    if (isThere(inner)) places.push(`body.${path}`);
    if (typeof inner === "object" && inner !== null)
      for (const [name, one] of Object.entries(inner)) look(one, path === "" ? name : `${path}.${name}`);
  };
  look(delivery.json, "");
  return places;
}

/** The string or number at a place of a notification. */
export function itemAt(delivery: Delivery, place: Place): string | undefined {
  const name = place.slice(place.indexOf(".") + 1);
  if (place.startsWith("header."))
    return delivery.headers.find(([own]) => own.toLowerCase() === name.toLowerCase())?.[1];
  return fieldAt(delivery.json, name);
}

/** The string or number at a path of the body, also if a part of the path is a string that contains JSON. */
export function fieldAt(json: unknown, path: string): string | undefined {
  let here = json;
  for (const name of path.split(".")) {
    const outer = unwrap(here);
    if (Array.isArray(outer)) here = outer[Number(name)];
    else if (isObject(outer) && Object.hasOwn(outer, name)) here = outer[name];
    else return undefined;
  }
  return textOf(here);
}

const volatile =
  /(^|_)(attempts?|retry|retries|try|tries|counter|timestamp|time|date|nonce|signature|delivery_id)(_|$)|_at$/;

/** `retryCount` is as much a name as `retry_count`. */
const isVolatile = (name: string) =>
  volatile.test(
    name
      .replace(/([a-z\d])([A-Z])/g, "$1_$2")
      .replaceAll("-", "_")
      .toLowerCase(),
  );

/** What a notification says, without what differs between two attempts. */
export function contentOf({ json, decoded }: Delivery, deliveryId: string | undefined): string {
  const text =
    json === undefined
      ? decoded.toString("utf8")
      : JSON.stringify(json, (name, value: unknown) => (isVolatile(name) ? undefined : value));
  return deliveryId === undefined ? text : text.replaceAll(deliveryId, "");
}
