import type { Session } from "../engine/session.js";
import { isObject } from "../http/reply.js";
import { headerReadings, textOf, unwrap } from "./delivery-items.js";
import type { Delivery } from "./receiver.js";

/**
 * Where notifications have the names of transactions. One about a fee can name the payment that it belongs to beside its own id. That shows
 * where the payment's own notifications have the payment's name: there, that of the fee has another one.
 */

/** The strings and numbers of a notification, by their places. A position in a list stands for every position. */
type Leaves = ReadonlyMap<string, readonly string[]>;

const leavesOf = new WeakMap<Delivery, Leaves>();

function readLeaves(delivery: Delivery): Leaves {
  const known = leavesOf.get(delivery);
  if (known !== undefined) return known;
  const leaves = new Map<string, string[]>();
  const add = (place: string, text: string) => leaves.set(place, [...(leaves.get(place) ?? []), text]);
  for (const [name, value] of delivery.headers)
    for (const reading of headerReadings(value)) add(`header.${name.toLowerCase()}`, reading);
  const look = (value: unknown, place: string) => {
    const inner = unwrap(value);
    const text = textOf(inner);
    if (text !== undefined) add(place, text);
    else if (Array.isArray(inner)) for (const one of inner) look(one, `${place}.*`);
    else if (isObject(inner)) for (const [name, one] of Object.entries(inner)) look(one, `${place}.${name}`);
  };
  look(delivery.json, "body");
  leavesOf.set(delivery, leaves);
  return leaves;
}

/** A string as it is, and what is after each of its slashes, because a path names what it ends with. */
function namesIn(text: string): string[] {
  const segments = text.split("/");
  return segments.map((_, at) => segments.slice(at).join("/"));
}

interface Index {
  count: number;
  /** The notifications of a run that have a name, with the places of the name in each. */
  readonly byName: Map<string, Map<Delivery, Set<string>>>;
}

const indexes = new WeakMap<Session, Index>();

function indexOf(session: Session): Index["byName"] {
  const index = indexes.get(session) ?? { count: 0, byName: new Map() };
  indexes.set(session, index);
  const all = session.receiver?.deliveries ?? [];
  for (const delivery of all.slice(index.count))
    for (const [place, texts] of readLeaves(delivery))
      for (const name of texts.flatMap(namesIn)) {
        const having = index.byName.get(name) ?? new Map<Delivery, Set<string>>();
        index.byName.set(name, having);
        having.set(delivery, (having.get(delivery) ?? new Set()).add(place));
      }
  index.count = all.length;
  return index.byName;
}

/** What one thing says of another. Looked at only if nothing else tells which of two places has a notification's own name. */
const relation = /(parent|for|of|relat|origin|link|counter|belong|cause)[^.]*$/i;

/**
 * Whether a notification that has a name of a transaction is about something else: at a place where others have the name of this transaction, it
 * has another one. If it is so the other way round too, the name of the place decides, or nothing does.
 */
export function isOfAnother(session: Session, delivery: Delivery, names: readonly string[]): boolean {
  const byName = indexOf(session);
  const isOwn = (text: string) => namesIn(text).some((one) => names.includes(one));
  const own = readLeaves(delivery);
  const placesIn = (one: Delivery) =>
    new Set(names.flatMap((name) => [...(byName.get(name)?.get(one) ?? [])]));
  const here = placesIn(delivery);
  if (here.size === 0) return false;
  const others = new Set(names.flatMap((name) => [...(byName.get(name)?.keys() ?? [])]));
  const hasOther = (leaves: Leaves, place: string) =>
    leaves.has(place) && leaves.get(place)?.some(isOwn) === false;
  for (const other of others)
    for (const place of placesIn(other)) {
      if (!hasOther(own, place)) continue;
      const isMutual = [...here].some((one) => hasOther(readLeaves(other), one));
      const isRelated = [...here].every((one) => relation.test(one)) && !relation.test(place);
      if (!isMutual || isRelated) return true;
    }
  return false;
}

/** The places at which the notifications of a run name each of these transactions: one of them can be a number by chance, all of them cannot. */
export function placesOfEach(deliveries: readonly Delivery[], ids: readonly string[]): ReadonlySet<string> {
  const [first, ...others] = ids.map(
    (id) => new Set(deliveries.flatMap((one) => placesThatName(one, (text) => namesIn(text).includes(id)))),
  );
  return new Set([...(first ?? [])].filter((place) => others.every((places) => places.has(place))));
}

const placesThatName = (delivery: Delivery, isName: (text: string) => boolean) =>
  [...readLeaves(delivery)].flatMap(([place, texts]) => (texts.some(isName) ? [place] : []));

/** Whether a notification has something at one of these places, and whether that is this name. */
export function lookAt(delivery: Delivery, places: ReadonlySet<string>, name: string) {
  const texts = [...places].flatMap((place) => readLeaves(delivery).get(place) ?? []);
  return { isThere: texts.length > 0, isNamed: texts.some((text) => namesIn(text).includes(name)) };
}
