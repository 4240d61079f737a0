import { setTimeout as delay } from "node:timers/promises";
import type { Kit } from "../engine/kit.js";
import { contentOf, fieldAt, findMember, itemAt, itemOf, mentions } from "../webhooks/delivery-items.js";
import type { Delivery, Receiver } from "../webhooks/receiver.js";
import {
  awaitFinal,
  type Created,
  createTransaction,
  failOverdue,
  stateNames,
  stateOf,
} from "./scenarios.js";
import { endpoint } from "./webhook-endpoint.js";

/** The state that a notification reports; undefined if it has none. */
export function stateIn({ target }: Kit, delivery: Delivery): string | undefined {
  const path = target.webhooks?.state;
  return path === undefined ? findMember(delivery.json, stateNames(target)) : fieldAt(delivery.json, path);
}

/** Whether a notification is about a transaction: it has its id or its reference, which the client knows as well. */
export function isAbout({ target }: Kit, delivery: Delivery, { id, reference }: Created): boolean {
  const place = target.webhooks?.transactionId;
  if (place === undefined) return mentions(delivery, id) || mentions(delivery, reference);
  const given = itemAt(delivery, place);
  return given !== undefined && [id, reference].some((name) => given === name || given.endsWith(`/${name}`));
}

export interface Announced {
  readonly created: readonly Created[];
  /** The final state of each, as GET shows it. */
  readonly states: ReadonlyMap<string, string>;
  /** Of transaction.updated; of all kinds if there is none of this kind. */
  readonly deliveries: readonly Delivery[];
  /** Everything that arrived meanwhile, about whatever. */
  readonly arrived: readonly Delivery[];
  /** Whether the notifications say which transaction they are about. If none does, `deliveries` are all that arrived. */
  readonly isAttributed: boolean;
  /** Whether a notification is of the kind that the checks look at. */
  readonly isUpdate: (delivery: Delivery) => boolean;
}

/** So many that one that is left out now and then is noticed. */
const announcedTransactions = 5;

/** How long a notification is held that arrives before the 202 with its id. Senders do not wait long. */
const holdMs = 2000;

/** Waits until a transaction is created that a notification can be about. */
async function hold(kit: Kit, creation: Promise<unknown>): Promise<void> {
  const late = delay(holdMs, undefined, { signal: kit.session.signal });
  await Promise.race([creation, late]).catch(() => undefined);
}

/** Answers notifications about these transactions when GET was asked for the state, and all others at once. */
function answerAfterGet(kit: Kit, receiver: Receiver, created: readonly Created[], creation: Promise<void>) {
  const find = (delivery: Delivery) => created.find((one) => isAbout(kit, delivery, one));
  receiver.answerWith(async (delivery) => {
    if (find(delivery) === undefined) await hold(kit, creation);
    const about = find(delivery);
    if (about !== undefined)
      await kit
        .send("GET", `/v1/transactions/${encodeURIComponent(about.id)}`)
        .then((shown) => {
          delivery.shownState = stateOf(kit.target, shown);
        })
        .catch(() => undefined);
    return 204;
  });
}

/**
 * Some transactions, with everything that is announced about them until nothing more arrives. While a notification waits for its answer, GET
 * is asked for the state: what is announced must be visible.
 */
export const announced = (kit: Kit): Promise<Announced> =>
  kit.fixture("announced transactions", async (own) => {
    const { receiver } = await endpoint(own);
    const start = receiver.deliveries.length;
    const created: Created[] = [];
    const creation = (async () => {
      while (created.length < announcedTransactions) created.push(await createTransaction(own));
    })();
    answerAfterGet(own, receiver, created, creation);
    const arrived = () => receiver.deliveries.slice(start);
    try {
      await creation;
      const states = new Map<string, string>();
      for (const { id } of created) states.set(id, (await awaitFinal(own, id)).state);
      await awaitNotifications(own, created, states, arrived);
      return { created, states, ...sortDeliveries(own, created, arrived()) };
    } finally {
      own.attach(arrived());
    }
  });

/** Until each transaction and its result are announced, and then as long as something could still follow. */
async function awaitNotifications(
  kit: Kit,
  created: readonly Created[],
  states: ReadonlyMap<string, string>,
  arrived: () => readonly Delivery[],
): Promise<void> {
  const { webhookMs, quietMs } = kit.target.timing;
  const about = (one: Created) => arrived().filter((delivery) => isAbout(kit, delivery, one));
  const areAll = () => created.every((one) => about(one).length > 0);
  await kit.poll(webhookMs, async () => (areAll() ? true : undefined));
  const hasState = arrived().some((one) => stateIn(kit, one) !== undefined);
  const isComplete = (one: Created) =>
    about(one).some((delivery) => stateIn(kit, delivery) === states.get(one.id));
  if (hasState && areAll())
    await kit.poll(webhookMs, async () => (created.every(isComplete) ? true : undefined));
  await kit.sleep(quietMs);
}

function sortDeliveries(kit: Kit, created: readonly Created[], arrived: readonly Delivery[]) {
  const about = arrived.filter((delivery) => created.some((one) => isAbout(kit, delivery, one)));
  const isAttributed = about.length > 0 || kit.target.webhooks?.transactionId !== undefined;
  const all = isAttributed ? about : arrived;
  const isNamed = (delivery: Delivery) =>
    [undefined, "transaction.updated"].includes(itemOf(delivery, "event"));
  const isUpdate = all.some(isNamed) ? isNamed : () => true;
  return { arrived, isAttributed, isUpdate, deliveries: all.filter(isUpdate) };
}

export interface Retried {
  /** The notification that was answered with 500. */
  readonly first: Delivery;
  /** The next one with its delivery_id. */
  readonly second: Delivery | undefined;
  /** If there is none: a later one with the same content and another delivery_id. */
  readonly renamed: Delivery | undefined;
}

/** A transaction whose first notification is answered with 500, and what is sent after that. */
export const retried = (kit: Kit): Promise<Retried> =>
  kit.fixture("retried notification", async (own) => {
    const { receiver } = await endpoint(own);
    const { timing } = own.target;
    const before = await announced(own);
    const start = receiver.deliveries.length;
    const after = () => receiver.deliveries.slice(start);
    const refusal = refuseFirst(own, receiver, before);
    try {
      await refusal.creation;
      const first =
        (await own.poll(timing.webhookMs, async () => refusal.refused())) ??
        failOverdue(own, "webhookMs", "a notification of a third transaction", "none");
      const id = itemOf(first, "delivery_id");
      const later = () => after().filter((one) => one.index > first.index && before.isUpdate(one));
      const isSame = (one: Delivery) => contentOf(one, itemOf(one, "delivery_id")) === contentOf(first, id);
      const second = await own.poll(timing.retryMs, async () =>
        later().find((one) => (id === undefined ? isSame(one) : itemOf(one, "delivery_id") === id)),
      );
      const canRename = second === undefined && id !== undefined && isTelling(before);
      return { first, second, renamed: canRename ? later().find(isSame) : undefined };
    } finally {
      own.attach(after());
    }
  });

/** Creates a transaction, answers its first notification with 500, and all others with 204 at once. */
function refuseFirst(kit: Kit, receiver: Receiver, before: Announced) {
  const seen = new Set(receiver.deliveries.map((one) => itemOf(one, "delivery_id")));
  seen.delete(undefined);
  let third: Created | undefined;
  let refused: Delivery | undefined;
  const creation = createTransaction(kit).then((created) => {
    third = created;
  });
  receiver.answerWith(async (delivery) => {
    const isOther = () => refused !== undefined || seen.has(itemOf(delivery, "delivery_id"));
    if (isOther() || !before.isUpdate(delivery)) return 204;
    await hold(kit, creation);
    const isMeant = third !== undefined && (!before.isAttributed || isAbout(kit, delivery, third));
    if (isOther() || !isMeant) return 204;
    refused = delivery;
    return 500;
  });
  return { creation, refused: () => refused };
}

/** Whether two notifications differ in more than their delivery_id: some only say that something has changed. */
function isTelling({ deliveries }: Announced): boolean {
  const byContent = new Map<string, string | undefined>();
  return deliveries.every((one) => {
    const id = itemOf(one, "delivery_id");
    const content = contentOf(one, id);
    if (byContent.has(content) && byContent.get(content) !== id) return false;
    byContent.set(content, id);
    return true;
  });
}
