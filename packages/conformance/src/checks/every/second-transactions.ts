import { CheckFailed, NotOffered } from "../../engine/check.js";
import type { Kit } from "../../engine/kit.js";
import { isObject, sentBody } from "../../http/reply.js";
import type { Place } from "../../target/target.js";
import { containsText, placesOf } from "../../webhooks/delivery-items.js";
import type { Delivery } from "../../webhooks/receiver.js";
import type { Accepted } from "../keys/key-scenarios.js";
import { createdInRun, findShown, type ShownName } from "../shown-members.js";
import { isAbout, namesIn, textsAt } from "../webhooks/webhook-names.js";
import { announced } from "../webhooks/webhook-scenarios.js";
import { areCounterparts } from "./counterparts.js";
import { keyIn, pathOf, readsOf, type Sent } from "./run-transactions.js";

/** Requests that were carried out twice. All notifications since the receiver was registered are looked at, because one of many may be. */

type Compared = Exclude<ShownName, "id">;

interface Wanted {
  /** What GET shows as it was sent. */
  readonly names: readonly Compared[];
  readonly isSame: (name: Compared, sent: unknown, shown: unknown) => boolean;
  readonly sent: readonly Sent[];
}

/** So many ids are looked up. A fee beside each transaction would use up the requests of a run. */
const lookUpsMax = 40;
/** If no response shows an id, every id has to be looked up, and the checks that ask for one have sent nothing. */
const allLookUpsMax = 150;
/** Requests that are left for the checks that follow. */
const requestsLeft = 20;

/** A second transaction has an id that no response has shown, with the reference and the amount of a request. A fee has another amount, and a counterpart another side. */
export async function expectOneEach(kit: Kit, { names, isSame, sent }: Wanted): Promise<void> {
  const { deliveries, created } = await announced(kit);
  const places = new Set(
    deliveries.flatMap((one) => created.flatMap(({ id }) => (id === undefined ? [] : placesOf(one, id)))),
  );
  if (places.size === 0)
    throw new NotOffered(
      "Notifications do not have the ids that the 202 shows, so a second one cannot be seen.",
    );
  if (!names.includes("amount"))
    throw new NotOffered("GET does not show the amount as it was sent, so a second one may be a fee.");
  const known = new Set(createdInRun(kit).flatMap(({ id }) => id ?? []));
  const unknown = idsAt(kit, places, known);
  for (const [id, delivery] of likeliest(kit, unknown).slice(0, lookUpsMax)) {
    if (isUsedUp(kit)) return;
    const { status, json } = await kit.send("GET", pathOf(id));
    const first = sent.find(({ members }) => containsText(json, String(members["reference"])));
    const isSent = (name: Compared) => isSame(name, first?.members[name], findShown(kit.target, json, name));
    if (status !== 200 || first === undefined || !names.every(isSent)) continue;
    if (await isCounterpart(kit, first.id, { json, delivery })) continue;
    refuseSecond(String(first.members["reference"]), first.id, id, delivery);
  }
}

/** The same if no 202 has shown an id, and the target file says where notifications have it: two ids for which GET shows one request. */
export async function expectOneIdEach(
  kit: Kit,
  place: Place,
  { isSame }: Pick<Wanted, "isSame">,
): Promise<void> {
  await announced(kit);
  const requests = requestsByReference(kit);
  const first = new Map<string, { readonly id: string; readonly json: unknown }[]>();
  let isShown = false;
  for (const [id, delivery] of [...idsAt(kit, new Set([place]), new Set())].slice(0, allLookUpsMax)) {
    if (isUsedUp(kit)) break;
    const { status, json } = await kit.send("GET", pathOf(id));
    const [reference, request] =
      status === 200 ? ([...requests].find(([name]) => containsText(json, name)) ?? []) : [];
    const isSent = isSame("amount", request?.amount, findShown(kit.target, json, "amount"));
    if (reference === undefined || !isSent) continue;
    isShown = true;
    const others = first.get(reference) ?? [];
    first.set(reference, [...others, { id, json }]);
    const other = others.find((one) => !areCounterparts(one.json, json));
    if (other !== undefined && request?.keys.size === 1) refuseSecond(reference, other.id, id, delivery);
  }
  if (!isShown)
    throw new NotOffered(
      "No 202 has an id, and GET does not show the reference and the amount of what notifications have an id of, so a second one cannot be seen.",
    );
}

/** As GET shows both, or as notifications do. */
async function isCounterpart(
  kit: Kit,
  id: string,
  other: { readonly json: unknown; readonly delivery: Delivery },
): Promise<boolean> {
  const { json } = readsOf(kit, id).at(-1) ?? (await kit.send("GET", pathOf(id)));
  if (areCounterparts(json, other.json)) return true;
  const all = kit.session.receiver?.deliveries ?? [];
  const own = all.find((one) => isAbout(kit, one, { id, reference: id } as Accepted));
  return own !== undefined && areCounterparts(own.json, other.delivery.json);
}

function refuseSecond(reference: string, first: string, id: string, delivery: Delivery): never {
  throw new CheckFailed(
    `one transaction for the request with the reference ${reference}, ${first}`,
    `a second one, ${id}, with the same reference and amount, in notification ${delivery.index}`,
    undefined,
    [delivery],
  );
}

const isUsedUp = ({ session: { exchanges, bounds } }: Kit) =>
  exchanges.length + requestsLeft > bounds.requestsMax;

/** The ids that notifications have at these places, each with the first that has it. */
function idsAt(kit: Kit, places: ReadonlySet<Place>, known: ReadonlySet<string>): Map<string, Delivery> {
  const unknown = new Map<string, Delivery>();
  for (const delivery of kit.session.receiver?.deliveries ?? [])
    for (const item of [...places].flatMap((place) => textsAt(delivery, place))) {
      // An id can have slashes of its own.
      const id = known.has(item) ? item : (item.split("/").at(-1) ?? "");
      if (id !== "" && !known.has(id) && !unknown.has(id)) unknown.set(id, delivery);
    }
  return unknown;
}

/** First those whose reference has more ids than others have: each transaction can have one besides, such as a fee. */
function likeliest(kit: Kit, unknown: ReadonlyMap<string, Delivery>): [id: string, delivery: Delivery][] {
  const all = [...unknown].map(([id, delivery]) => ({ id, delivery, names: namesIn(kit, delivery) }));
  const counts = new Map<string, number>();
  for (const name of all.flatMap(({ names }) => names)) counts.set(name, (counts.get(name) ?? 0) + 1);
  const most = ({ names }: (typeof all)[number]) =>
    Math.max(0, ...names.map((name) => counts.get(name) ?? 0));
  return all.toSorted((one, other) => most(other) - most(one)).map(({ id, delivery }) => [id, delivery]);
}

interface Requested {
  readonly amount: unknown;
  /** Those under which the reference was sent, and "" for none: with two keys there are two requests. */
  readonly keys: Set<string>;
}

/** What was requested with each reference that has no unusual characters. */
function requestsByReference({ session }: Kit): Map<string, Requested> {
  const requests = new Map<string, Requested>();
  for (const { request } of session.exchanges) {
    const sent = request.method === "POST" ? sentBody(request) : undefined;
    const reference = isObject(sent) ? sent["reference"] : undefined;
    if (!isObject(sent) || typeof reference !== "string" || !/^[\w-]{1,64}$/.test(reference)) continue;
    const known = requests.get(reference) ?? { amount: sent["amount"], keys: new Set<string>() };
    known.keys.add(keyIn(request) ?? "");
    requests.set(reference, known);
  }
  return requests;
}
