import { setTimeout as delay } from "node:timers/promises";
import type { Kit } from "../../engine/kit.js";
import { percentEncode } from "../../http/percent-encode.js";
import type { Target } from "../../target/target.js";
import { fieldsAt, partsAbout } from "../../webhooks/batches.js";
import { containsText, contentOf, eventsOf, findMember, itemOf } from "../../webhooks/delivery-items.js";
import type { Delivery, Receiver, SeenState } from "../../webhooks/receiver.js";
import { readsOf } from "../every/run-transactions.js";
import { type Accepted, acceptBeyondAscii, acceptTransaction } from "../keys/key-scenarios.js";
import { awaitFinal } from "../scenarios.js";
import { stateNames, stateOf } from "../transaction-state.js";
import { endpoint } from "./webhook-endpoint.js";
import { findUnnamable, isAbout, learnPlaces, namesOf, textsAt } from "./webhook-names.js";

/** What a notification has at webhooks.state, or another path, which can begin with `body.` as places do; a member of the body can be called so too. */
export function namedFieldsIn(
  { webhooks }: Target,
  json: unknown,
  name: "state" | "amount" | "asset" | "reference" = "state",
): ReturnType<typeof fieldsAt> {
  const path = webhooks?.[name] ?? "";
  const own = fieldsAt(json, path);
  return own.length > 0 || !path.startsWith("body.") ? own : fieldsAt(json, path.slice("body.".length));
}

/** The states that a notification reports of a transaction: none, one, or several if it is a batch. */
export function statesIn({ target }: Kit, { json }: Delivery, transaction: Accepted): string[] {
  const names = namesOf(transaction);
  if (target.webhooks?.state !== undefined) {
    const all = namedFieldsIn(target, json);
    const own = all.filter(({ item }) => names.some((name) => containsText(item, name)));
    return (own.length > 0 ? own : all).flatMap(({ text }) => spellings(target, text));
  }
  const found = (value: unknown) => findMember(value, stateNames(target)) ?? [];
  const own = partsAbout(json, names).flatMap(found);
  return (own.length > 0 ? own : [found(json)].flat()).flatMap((text) => spellings(target, text));
}

/** A final state as the target file spells it, which can be in several ways: how a notification writes it is open. */
function spellings({ finalStates }: Target, text: string): string[] {
  const same = finalStates.filter((state) => state.toLowerCase() === text.toLowerCase());
  return same.length === 0 ? [text] : same;
}

/** All states that a notification reports, of whatever transaction. */
export function allStatesIn(kit: Kit, delivery: Delivery, created: readonly Accepted[]): string[] {
  return created.flatMap((one) => (isAbout(kit, delivery, one) ? statesIn(kit, delivery, one) : []));
}

export interface Announced {
  /** A transaction that notifications cannot name, which is none of `created`. */
  readonly unnamable: Accepted | undefined;
  readonly created: readonly Accepted[];
  /** The final state of each, by its reference, as GET shows it; of none if ids or final states are not known. */
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
export async function hold(kit: Kit, creation: Promise<unknown>): Promise<void> {
  const late = delay(holdMs, undefined, { signal: kit.session.signal });
  await Promise.race([creation, late]).catch(() => undefined);
}

/** Answers notifications about these transactions when GET was asked for the state, and all others at once. */
function answerAfterGet(kit: Kit, receiver: Receiver, created: readonly Accepted[], creation: Promise<void>) {
  const find = (delivery: Delivery) => created.filter((one) => isAbout(kit, delivery, one));
  const looks: Promise<void>[] = [];
  receiver.answerWith(async (delivery) => {
    if (find(delivery).length === 0) await hold(kit, creation);
    await Promise.all(
      find(delivery).map(async (one) => {
        const later = await lookUp(kit, delivery, one);
        looks.push(later.done);
      }),
    );
    return 204;
  });
  return { looks };
}

/**
 * Asks GET for the state while a notification waits for its answer. If it does not show what is announced, it is asked again in the
 * background, until it does or shows another result.
 */
async function lookUp(kit: Kit, delivery: Delivery, transaction: Accepted): Promise<{ done: Promise<void> }> {
  const { id, reference } = transaction;
  const { timing, finalStates } = kit.target;
  const results = statesIn(kit, delivery, transaction).filter((state) => finalStates.includes(state));
  if (id === undefined) return nothingToAwait;
  /** The state, or the status of a response that shows none; undefined if there is no response. */
  const read = async () => {
    const shown = await kit.send("GET", `/v1/transactions/${percentEncode(id)}`).catch(() => undefined);
    if (shown === undefined) return undefined;
    return (shown.status === 200 ? stateOf(kit.target, shown) : undefined) ?? `status ${shown.status}`;
  };
  const started = performance.now();
  const wasShown = readsOf(kit, id).some(({ status }) => status === 200);
  const first = await read();
  // One that was shown before and is not found now, or a server that fails, is the concern of another check, and says nothing about the notification.
  const isOther = (wasShown && first?.startsWith("status ")) || first?.startsWith("status 5");
  if (first === undefined || isOther) return nothingToAwait;
  const seen: SeenState = { first, visibleAfterMs: results.includes(first) ? 0 : undefined };
  delivery.seenStates.set(reference, seen);
  const isDecided = (state: string | undefined) => state === undefined || finalStates.includes(state);
  if (results.length === 0 || isDecided(first)) return nothingToAwait;
  // Pauses grow, so what counts is the last time at which it was surely not shown.
  let hiddenForMs = performance.now() - started;
  const follow = kit.poll(timing.webhookMs, async () => {
    const state = await read();
    if (state !== undefined && results.includes(state)) seen.visibleAfterMs = hiddenForMs;
    hiddenForMs = performance.now() - started;
    return isDecided(state) ? true : undefined;
  });
  return { done: follow.then(() => undefined).catch(() => undefined) };
}

const nothingToAwait = { done: Promise.resolve() };

/**
 * Some transactions, with everything that is announced about them until nothing more arrives. While a notification waits for its answer, GET
 * is asked for the state: what is announced must be visible.
 */
export const announced = (kit: Kit): Promise<Announced> =>
  kit.fixture("announced transactions", async (own) => {
    const { receiver } = await endpoint(own);
    await awaitBacklog(own, receiver);
    const start = receiver.deliveries.length;
    const created: Accepted[] = [];
    const creation = (async () => {
      created.push((await acceptBeyondAscii(own)) ?? (await acceptTransaction(own)));
      while (created.length < announcedTransactions) created.push(await acceptTransaction(own));
    })();
    const { looks } = answerAfterGet(own, receiver, created, creation);
    const arrived = () => receiver.deliveries.slice(start);
    try {
      await creation;
      const states = new Map<string, string>();
      for (const { id, reference } of created)
        if (id !== undefined && own.target.finalStates.length > 0)
          states.set(reference, (await awaitFinal(own, id)).state);
      await awaitNotifications(own, created, states, arrived);
      await Promise.all(looks);
      const unnamable = findUnnamable(own, created, arrived());
      const named = created.filter((one) => one !== unnamable);
      learnPlaces(own, named, arrived());
      return { created: named, unnamable, states, ...sortDeliveries(own, named, arrived()) };
    } finally {
      own.attach(arrived());
    }
  });

/** Longer than a sender needs for what was created before, unless something is always announced. */
const backlogMs = 15_000;

/** Until nothing more arrives about what was created before, so that a sender with a queue has its usual time for what follows. */
async function awaitBacklog(kit: Kit, { deliveries }: Receiver): Promise<void> {
  if (deliveries.length === 0) return;
  const isQuiet = () =>
    Date.now() - (deliveries.at(-1)?.receivedAt.getTime() ?? 0) >= kit.target.timing.quietMs;
  await kit.watch(backlogMs, async () => (isQuiet() ? true : undefined));
}

/** Until each transaction and its result are announced, and then as long as something could still follow. */
async function awaitNotifications(
  kit: Kit,
  created: readonly Accepted[],
  states: ReadonlyMap<string, string>,
  arrived: () => readonly Delivery[],
): Promise<void> {
  const { webhookMs, quietMs } = kit.target.timing;
  const about = (one: Accepted) => arrived().filter((delivery) => isAbout(kit, delivery, one));
  const areAll = () => created.every((one) => about(one).length > 0);
  await kit.watch(webhookMs, async () => (areAll() ? true : undefined));
  const hasState = arrived().some((one) => allStatesIn(kit, one, created).length > 0);
  const isComplete = (one: Accepted) =>
    about(one).some((delivery) => statesIn(kit, delivery, one).includes(states.get(one.reference) ?? ""));
  if (hasState && areAll() && states.size > 0)
    await kit.watch(webhookMs, async () => (created.every(isComplete) ? true : undefined));
  await kit.sleep(quietMs);
}

function sortDeliveries(kit: Kit, created: readonly Accepted[], arrived: readonly Delivery[]) {
  const about = arrived.filter((delivery) => created.some((one) => isAbout(kit, delivery, one)));
  const place = kit.target.webhooks?.transactionId;
  // An id where the target file says, and none in the 202 to compare it with.
  const isIdUnknown =
    place !== undefined &&
    created.every(({ id }) => id === undefined) &&
    arrived.some((one) => textsAt(one, place).length > 0);
  const isAttributed = about.length > 0 || (place !== undefined && !isIdUnknown);
  const all = isAttributed ? about : arrived;
  const isNamed = (delivery: Delivery) => {
    const events = eventsOf(delivery);
    return events.length === 0 || events.includes("transaction.updated");
  };
  const isUpdate = all.some(isNamed) ? isNamed : () => true;
  return { arrived, isAttributed, isUpdate, deliveries: all.filter(isUpdate) };
}

/** Whether two notifications differ in more than their delivery_id: some only say that something has changed. */
export function isTelling({ deliveries }: Announced): boolean {
  const byContent = new Map<string, string | undefined>();
  return deliveries.every((one) => {
    const id = itemOf(one, "delivery_id");
    const content = contentOf(one, id);
    if (byContent.has(content) && byContent.get(content) !== id) return false;
    byContent.set(content, id);
    return true;
  });
}
