import type { Kit } from "../../engine/kit.js";
import { namePrefixOf } from "../../engine/run-names.js";
import type { Session } from "../../engine/session.js";
import type { Place } from "../../target/target.js";
import { fieldsAt } from "../../webhooks/batches.js";
import { headerReadings, isNamed, itemAt, mentions, placesOf } from "../../webhooks/delivery-items.js";
import { isOfAnother, lookAt, placesOfEach } from "../../webhooks/named-places.js";
import type { Delivery } from "../../webhooks/receiver.js";
import type { Accepted } from "../keys/key-scenarios.js";
import { createdInRun } from "../shown-members.js";

/** Which transaction a notification is about. */

/** What notifications call a transaction. */
export const namesOf = ({ id, reference }: Accepted) => (id === undefined ? [reference] : [id, reference]);

/** What sentences call it. */
export const nameOf = ({ id, reference }: Accepted) => id ?? reference;

/** Whether a notification is about a transaction: it has its id or its reference, which the client knows as well. */
export function isAbout({ target, session }: Kit, delivery: Delivery, transaction: Accepted): boolean {
  const names = namesOf(transaction);
  const place = target.webhooks?.transactionId;
  if (place === undefined)
    return (
      names.some((name) => mentions(delivery, name) && !isByChance(session, delivery, name)) &&
      !isOfAnother(session, delivery, names)
    );
  return valuesAt(delivery, place).some((value) =>
    names.some((name) => isNamed(value, name) || String(value).endsWith(`/${name}`)),
  );
}

/** Shorter ids can be in a notification by chance: `1` is also the number of an attempt. */
export const tellingLength = 12;

const namingPlaces = new WeakMap<Session, ReadonlySet<string>>();

/** Remembers where notifications have ids, as soon as they have named several transactions. */
export function learnPlaces(
  { session }: Kit,
  created: readonly Accepted[],
  arrived: readonly Delivery[],
): void {
  const ids = new Set(created.flatMap(({ id }) => id ?? []));
  const places = ids.size < 2 ? new Set<string>() : placesOfEach(arrived, [...ids]);
  if (places.size > 0) namingPlaces.set(session, places);
}

const lookWhereIdsAre = (session: Session, delivery: Delivery, name: string) =>
  lookAt(delivery, namingPlaces.get(session) ?? new Set(), name);

/** Whether a short name is only elsewhere in a notification than where it has an id, which is another one. */
function isByChance(session: Session, delivery: Delivery, name: string): boolean {
  if (name.length >= tellingLength) return false;
  const { isThere, isNamed } = lookWhereIdsAre(session, delivery, name);
  return isThere && !isNamed;
}

/** The ids of transactions of the run in a notification. They are certain if none can be there by chance. */
export function idsIn(kit: Kit, delivery: Delivery): { ids: readonly string[]; areCertain: boolean } {
  const { target, session } = kit;
  const all = new Map(createdInRun(kit).map(({ id, reference = "" }) => [id, reference]));
  const place = target.webhooks?.transactionId;
  const ids = [...all].flatMap(([id, reference]) => {
    if (id === undefined) return [];
    if (place !== undefined) return isAbout(kit, delivery, { id, reference } as Accepted) ? [id] : [];
    return mentions(delivery, id) && !isByChance(session, delivery, id) ? [id] : [];
  });
  const isSure = (id: string) =>
    place !== undefined || id.length >= tellingLength || lookWhereIdsAre(session, delivery, id).isNamed;
  return { ids, areCertain: ids.length > 0 && ids.every(isSure) };
}

/** What a notification has at the place of the id; several values if it is a batch. A number of JSON stays one, because it can have been rounded. */
function valuesAt(delivery: Delivery, place: Place): unknown[] {
  if (place.startsWith("body."))
    return fieldsAt(delivery.json, place.slice("body.".length)).map(({ value }) => value);
  const header = itemAt(delivery, place) ?? "";
  return header === "" ? [] : headerReadings(header);
}

/** The same as strings. */
export const textsAt = (delivery: Delivery, place: Place): string[] => valuesAt(delivery, place).map(String);

/** What a notification names of the run: its references, as far as they have no unusual characters. */
export function namesIn({ session }: Kit, { headers, decoded }: Delivery): string[] {
  const prefix = namePrefixOf(session);
  const text = `${headers.map(([, value]) => value).join("\n")}\n${decoded.toString("utf8")}`;
  if (!text.includes(prefix)) return [];
  const escaped = prefix.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return [...new Set(text.match(new RegExp(`${escaped}[\\w-]*`, "g")) ?? [])];
}

const isAscii = (text: string) => /^[\x20-\x7e]*$/.test(text);

/**
 * A transaction whose reference is not ASCII, which no notification names, if others are named by their reference in a header alone: a
 * header cannot have it as it is, and how it is encoded there is open.
 */
export function findUnnamable(
  kit: Kit,
  created: readonly Accepted[],
  arrived: readonly Delivery[],
): Accepted | undefined {
  const odd = created.find(({ reference }) => !isAscii(reference));
  if (odd === undefined || arrived.some((one) => isAbout(kit, one, odd))) return undefined;
  const others = created.filter((one) => one !== odd);
  const places = (name: string) => arrived.flatMap((one) => placesOf(one, name));
  if (others.some(({ id }) => id !== undefined && places(id).length > 0)) return undefined;
  const ofReferences = others.flatMap(({ reference }) => places(reference));
  return ofReferences.length > 0 && ofReferences.every((one) => one.startsWith("header.")) ? odd : undefined;
}
