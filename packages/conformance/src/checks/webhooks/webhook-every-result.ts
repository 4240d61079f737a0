import { contractCheck, fail, NotOffered } from "../../engine/check.js";
import { type Kit, urlOf } from "../../engine/kit.js";
import { replyOf } from "../../http/reply.js";
import { findMember, itemOf } from "../../webhooks/delivery-items.js";
import type { Delivery } from "../../webhooks/receiver.js";
import { finalIn, pathOf } from "../every/run-transactions.js";
import type { Accepted } from "../keys/key-scenarios.js";
import { createdInRun } from "../shown-members.js";
import { stateNames, stateOf } from "../transaction-state.js";
import { lateNotifications } from "./webhook-every-checks.js";
import { isAbout } from "./webhook-names.js";
import { type Announced, allStatesIn, announced, namedFieldsIn, statesIn } from "./webhook-scenarios.js";

/** What all notifications of the run say, also attempts that are repeated, and those that were not answered. */

export const webhookResultChecks = [
  contractCheck(
    "webhook.result.every",
    "4.rule-4",
    "Every notification of the run with a result has the one that GET shows, and all attempts with one delivery_id have the same state.",
    {
      needs: ["webhook.sent"],
      unlessFailed: [
        "webhook.each",
        "webhook.result",
        "failed.announced",
        "webhook.event.name",
        "webhook.delivery-id.unique",
        "webhook.delivery-id.every",
        "webhook.retry.same-id",
        "tx.get.every-final",
      ],
      writes: ["transaction", "webhook endpoint"],
      atEnd: true,
    },
    async (kit) => {
      await announced(kit);
      await lateNotifications(kit);
      const all = kit.session.receiver?.deliveries ?? [];
      if (!all.some((one) => statesOf(kit, one).length > 0))
        throw new NotOffered("Notifications show no state, and need not.");
      expectSameStates(kit, all);
      await expectResults(kit, all);
    },
  ),
];

/** All states in a notification, of whatever transaction. */
function statesOf({ target }: Kit, { json }: Delivery): string[] {
  if (target.webhooks?.state !== undefined) return namedFieldsIn(target, json).map(({ text }) => text);
  const found = findMember(json, stateNames(target));
  return found === undefined ? [] : [found];
}

const listOf = (states: readonly string[]) => states.join(", ") || "none";

/** A receiver may have handled an attempt that it has not answered, and then ignores the next one with its delivery_id. */
function expectSameStates(kit: Kit, all: readonly Delivery[]): void {
  const byId = new Map<string, Delivery>();
  let isWarned = false;
  for (const one of all) {
    const id = itemOf(one, "delivery_id");
    const first = id === undefined ? undefined : byId.get(id);
    if (id !== undefined && first === undefined) byId.set(id, one);
    if (first === undefined || first.body.equals(one.body)) continue;
    const [was, is] = [statesOf(kit, first), statesOf(kit, one)];
    if (listOf(was).toLowerCase() === listOf(is).toLowerCase()) continue;
    const seen = `the state ${listOf(is)} in notification ${one.index}`;
    if (areStates(kit, was) && areStates(kit, is))
      fail(
        `the state ${listOf(was)} of notification ${first.index} in every attempt with the delivery_id ${id}`,
        `${seen}; a receiver that has handled the first, and whose answer did not arrive, ignores it`,
        [first, one],
      );
    if (!isWarned)
      kit.warn(
        `Attempts with the delivery_id ${id} differ: ${listOf(was)} in notification ${first.index}, and ${seen}. GET has not shown both, so it may be something else; if it is the state, name its place in webhooks.state of the target file, and it is a failure.`,
      );
    isWarned = true;
  }
}

/** Whether these are surely states: the target file says so, or GET has shown them as such. */
function areStates(kit: Kit, states: readonly string[]): boolean {
  const { target, session } = kit;
  if (target.webhooks?.state !== undefined) return true;
  const shown = new Set(target.finalStates.map((state) => state.toLowerCase()));
  for (const exchange of session.exchanges) {
    const isRead = exchange.request.method === "GET" && exchange.response?.status === 200;
    const reply = isRead ? replyOf(exchange) : undefined;
    if (reply !== undefined) shown.add((stateOf(target, reply) ?? "").toLowerCase());
  }
  return states.length > 0 && states.every((state) => shown.has(state.toLowerCase()));
}

/** Of those that nobody has read when they were final, some are. */
const askedMax = 10;

/** A result that a notification has, if it is another one than GET shows, is one that a receiver acts on. */
async function expectResults(kit: Kit, all: readonly Delivery[]): Promise<void> {
  const { target } = kit;
  const { deliveries, created } = await announced(kit);
  const results = new Set(target.finalStates.map((state) => state.toLowerCase()));
  // A status that is always the same can be that of an envelope.
  const seen = new Set(deliveries.flatMap((one) => allStatesIn(kit, one, created)));
  const isCertain = target.webhooks?.state !== undefined || seen.size > 1;
  const known = knownResults(kit);
  let asked = 0;
  const named = nameable(kit, deliveries, created);
  for (const one of all) {
    if (!statesOf(kit, one).some((state) => results.has(state.toLowerCase()))) continue;
    const text = textOf(one);
    for (const transaction of named) {
      if (!isIn(text, transaction) || !isAbout(kit, one, transaction.as)) continue;
      const { id, path } = transaction;
      if (!known.has(path) && asked < askedMax) {
        asked += 1;
        const reply = await kit.send("GET", pathOf(id)).catch(() => undefined);
        const shown = reply === undefined ? undefined : finalIn(kit, reply);
        if (shown !== undefined) known.set(path, shown);
      }
      const result = known.get(path);
      if (result === undefined) continue;
      const said = statesIn(kit, one, transaction.as).filter((state) => target.finalStates.includes(state));
      // Several results belong to a batch whose items do not say which transaction they are about.
      const isOne = new Set(said.map((state) => state.toLowerCase())).size === 1;
      if (!isOne || said.includes(result)) continue;
      const wanted = `the result ${result} of ${id}, which GET shows, in every notification about it`;
      const other = `the result ${listOf(said)} in notification ${one.index}${describeFirst(all, one)}`;
      if (isCertain) fail(wanted, other, [one]);
      kit.warn(
        `Expected ${wanted}; seen ${other}. It is the same in all notifications, so it may be something else; webhooks.state of the target file can name the place of the state.`,
      );
      return;
    }
  }
}

function describeFirst(all: readonly Delivery[], delivery: Delivery): string {
  const id = itemOf(delivery, "delivery_id");
  const first = all.find((one) => id !== undefined && itemOf(one, "delivery_id") === id);
  return first === undefined || first === delivery ? "" : `, which repeats notification ${first.index}`;
}

/** The first final state that GET has shown of each transaction, by its path. */
function knownResults(kit: Kit): Map<string, string> {
  const results = new Map<string, string>();
  for (const exchange of kit.session.exchanges) {
    const { method, url } = exchange.request;
    const reply = method === "GET" && !results.has(url.pathname) ? replyOf(exchange) : undefined;
    const result = reply === undefined ? undefined : finalIn(kit, reply);
    if (result !== undefined) results.set(url.pathname, result);
  }
  return results;
}

export interface Nameable {
  readonly id: string;
  readonly path: string;
  /** With the names by which notifications know it. */
  readonly as: Accepted;
  /** Whether a notification can write its names in another way. */
  readonly isUnusual: boolean;
}

/** Whether notifications have the ids of transactions. */
export function nameIds(
  kit: Kit,
  { deliveries, created }: Pick<Announced, "deliveries" | "created">,
): boolean {
  return created.some((one) => {
    const byId = { ...one, reference: one.id ?? "" };
    return one.id !== undefined && deliveries.some((delivery) => isAbout(kit, delivery, byId));
  });
}

/** The transactions of the run, by their ids if notifications have these: a fee can have the reference of its transaction. */
export function nameable(
  kit: Kit,
  deliveries: readonly Delivery[],
  created: readonly Accepted[],
): Nameable[] {
  const haveIds = nameIds(kit, { deliveries, created });
  const all = new Map<string, string>();
  const uses = new Map<string, number>();
  for (const { id, reference = "" } of createdInRun(kit)) {
    if (id === undefined || all.has(id)) continue;
    all.set(id, haveIds ? id : reference);
    uses.set(reference, (uses.get(reference) ?? 0) + 1);
  }
  return [...all]
    .filter(([, name]) => haveIds || uses.get(name) === 1)
    .map(([id, name]) => ({
      id,
      path: urlOf(kit.target.baseUrl, pathOf(id)).pathname,
      as: { id, reference: name } as Accepted,
      isUnusual: /[^\w-]/.test(id + name),
    }));
}

/** Nearly all are found by a name as it is, which is quicker than to look at each value of each notification. */
export const isIn = (text: string, { id, as: { reference }, isUnusual }: Nameable) =>
  isUnusual || text.includes(id) || (reference !== id && text.includes(reference));

export const textOf = ({ headers, decoded }: Delivery) =>
  `${headers.map(([, value]) => value).join("\n")}\n${decoded.toString("utf8")}`;
