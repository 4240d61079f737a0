import { NotOffered } from "../engine/check.js";
import type { Kit } from "../engine/kit.js";
import type { Session } from "../engine/session.js";
import { percentEncode } from "../http/percent-encode.js";
import type { Reply } from "../http/reply.js";
import { containsText, itemAt, mentions, placesOf } from "../webhooks/delivery-items.js";
import type { Delivery } from "../webhooks/receiver.js";
import { createdInRun } from "./shown-members.js";
import { namesIn, textsAt } from "./webhooks/webhook-names.js";
import type { Announced } from "./webhooks/webhook-scenarios.js";

/** How a notification shows that a transaction exists although its request was refused; undefined if it does not. */
export interface CreationEvidence {
  /** It has the reference. */
  readonly byReference: (delivery: Delivery, reference: string) => string | undefined;
  /** Whether notifications have ids. If they do not, `byId` finds nothing. */
  readonly hasIds: boolean;
  /** Whether GET shows the references of transactions. If it does not, `byId` finds nothing either. */
  readonly showsReferences: () => Promise<boolean>;
  /** It has an id that no 202 has shown, of which GET shows the reference. */
  readonly byId: (delivery: Delivery, reference: string) => Promise<string | undefined>;
  /** The ids that no 202 has shown and of which GET shows the reference, each with the first notification that has it. */
  readonly idsOf: (deliveries: readonly Delivery[], reference: string) => Promise<Map<string, Delivery>>;
  /** How many of these ids a transaction has that was not repeated, such as that of a fee; undefined if their number differs. */
  readonly usualIds: () => Promise<number | undefined>;
}

/** Where notifications have the id is seen from those about transactions whose id is known. */
export function createEvidence(kit: Kit, { deliveries, created, arrived }: Announced): CreationEvidence {
  const namesReference = deliveries.some((one) => created.some(({ reference }) => mentions(one, reference)));
  const places = new Set(
    deliveries.flatMap((one) => created.flatMap(({ id }) => (id === undefined ? [] : placesOf(one, id)))),
  );
  if (!namesReference && places.size === 0)
    throw new NotOffered(
      "Notifications name neither the reference nor the id, so they cannot show what was created.",
    );
  const show = (id: string) => lookUp(kit, id);
  const idIn = async (delivery: Delivery, reference: string) => {
    // Each look is a request: what names other references of the run alone is about these.
    const names = namesIn(kit, delivery);
    if (names.length > 0 && !names.includes(reference) && !mentions(delivery, reference)) return undefined;
    for (const place of places) {
      const item = itemAt(delivery, place) ?? "";
      const id = lastSegment(item);
      // An id can have slashes of its own.
      if (id === "" || createdInRun(kit).some((one) => one.id === id || one.id === item)) continue;
      const shown = await show(id);
      if (shown.status === 200 && containsText(shown.json, reference)) return id;
    }
    return undefined;
  };
  /** The reference of a transaction that was accepted can be changed by a request with its key, which is no second one. */
  const isOfKnown = (delivery: Delivery) => {
    const ids = [...places].flatMap((place) => textsAt(delivery, place)).map(lastSegment);
    const known = new Set(createdInRun(kit).map(({ id }) => id));
    return ids.length > 0 && ids.every((id) => known.has(id));
  };
  const idsOf = async (all: readonly Delivery[], reference: string) => {
    const ids = new Map<string, Delivery>();
    for (const one of all) {
      const id = await idIn(one, reference);
      if (id !== undefined && !ids.has(id)) ids.set(id, one);
    }
    return ids;
  };
  return {
    hasIds: places.size > 0,
    showsReferences: async () => {
      for (const { id, reference } of created)
        if (id !== undefined && containsText((await show(id)).json, reference)) return true;
      return false;
    },
    byReference: (delivery, reference) =>
      mentions(delivery, reference) && !isOfKnown(delivery) ? "which has its reference" : undefined,
    byId: async (delivery, reference) => {
      const id = await idIn(delivery, reference);
      return id === undefined ? undefined : aboutId(id);
    },
    idsOf,
    usualIds: async () => {
      const numbers = new Set<number>();
      // Until now, because what belongs to a transaction can be announced later than its result; nothing of it arrived before.
      const all = kit.session.receiver?.deliveries.slice(arrived[0]?.index ?? 0) ?? arrived;
      for (const { reference } of created) numbers.add((await idsOf(all, reference)).size);
      return numbers.size === 1 ? [...numbers][0] : undefined;
    },
  };
}

interface LookUps {
  readonly replies: Map<string, { readonly reply: Reply; readonly times: number }>;
  requests: number;
}

/** Every check that looks for what nobody has asked for asks about the same ids. */
const lookUpsOfRun = new WeakMap<Session, LookUps>();
/** Of other ids of a run, which can be many if each transaction has a fee: the requests are needed elsewhere too. */
const lookUpsMax = 120;
/** One that is not found may not be there yet. */
const asksMax = 2;

async function lookUp(kit: Kit, id: string): Promise<Reply> {
  const own = lookUpsOfRun.get(kit.session) ?? { replies: new Map(), requests: 0 };
  lookUpsOfRun.set(kit.session, own);
  const { reply: known, times = 0 } = own.replies.get(id) ?? {};
  if (known !== undefined && (known.status === 200 || times >= asksMax)) return known;
  if (own.requests >= lookUpsMax)
    throw new NotOffered(
      "Notifications have so many ids that no response has shown, and no references, that a further one says nothing.",
    );
  own.requests += 1;
  const reply = await kit.send("GET", `/v1/transactions/${percentEncode(id)}`);
  own.replies.set(id, { reply, times: times + 1 });
  return reply;
}

export const aboutId = (id: string) => `which is about ${id}: GET shows it with this reference`;

const lastSegment = (text: string) => text.split("/").at(-1) ?? "";
