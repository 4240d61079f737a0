import { CheckFailed, contractCheck, expect, fail, NotOffered, Undecided } from "../../engine/check.js";
import type { Kit } from "../../engine/kit.js";
import { contentOf, eventsOf, itemOf } from "../../webhooks/delivery-items.js";
import { explainInvalid } from "../../webhooks/explain-invalid.js";
import type { Delivery } from "../../webhooks/receiver.js";
import { verifySignature } from "../../webhooks/verify-signature.js";
import { readsOf } from "../every/run-transactions.js";
import type { Accepted } from "../keys/key-scenarios.js";
import { failOverdue } from "../scenarios.js";
import { stateOf } from "../transaction-state.js";
import { describeUnread, refuseIfUnread } from "./unread-notifications.js";
import { endpoint } from "./webhook-endpoint.js";
import { isAbout, nameOf } from "./webhook-names.js";
import { allStatesIn, announced, statesIn } from "./webhook-scenarios.js";
import { expectVisible } from "./webhook-visibility.js";

const sent = "webhook.sent";
const idPresent = "webhook.delivery-id";
const idUnique = "webhook.delivery-id.unique";
const valid = "webhook.signature.valid";
const writes = ["transaction", "webhook endpoint"] as const;
const row = { needs: [sent], writes };

/** Notifications. Which changes cause one, its body and its algorithm are open. */
export const webhookChecks = [
  contractCheck(
    sent,
    "1.webhooks",
    "A transaction that is updated is announced to a registered receiver.",
    { needs: ["tx.create.admitted"], unlessFailed: ["tx.create.id", "tx.get.result-stays"], writes },
    async (kit) => {
      const { deliveries, created, arrived, isAttributed } = await announced(kit);
      const [first] = arrived;
      const what = `a notification about ${created.map(nameOf).join(" or ")}`;
      const place = kit.target.webhooks?.transactionId;
      if (first === undefined) refuseUnannounced(kit, what);
      if (deliveries.length === 0)
        fail(
          `${what}: its id or its reference at ${place}, where webhooks.transaction_id of the target file says`,
          `${arrived.length} without it; the first has ${describeItems(first)}`,
          [first],
        );
      const unread = describeUnread(kit);
      if (unread !== undefined) kit.warn(unread);
      if (isAttributed) return;
      const why =
        place === undefined
          ? "None has the id or the reference of a transaction as a field, a header or a word of its body, so the kit cannot say which transaction they are about; webhooks.transaction_id of the target file can name the place."
          : `The 202 shows no id to compare with what they have at ${place}, so the kit cannot say which transaction they are about.`;
      kit.warn(`${arrived.length} notifications arrived. ${why} The first has ${describeItems(first)}.`);
    },
  ),
  contractCheck(
    "webhook.each",
    "6.emitted",
    "Every transaction that is updated is announced.",
    row,
    async (kit) => {
      const { deliveries, created, isAttributed, unnamable } = await announced(kit);
      if (!isAttributed) throw new NotOffered("Notifications do not say which transaction they are about.");
      for (const transaction of created) {
        if (deliveries.some((one) => isAbout(kit, one, transaction))) continue;
        const wanted = `a notification about each of ${created.length} transactions within ${kit.target.timing.webhookMs} ms (timing.webhook_ms of the target file)`;
        const seen = `none about ${nameOf(transaction)}, whose reference is ${transaction.reference}`;
        refuseIfUnread(kit, wanted, seen);
        fail(wanted, seen);
      }
      if (unnamable !== undefined)
        kit.warn(
          `Notifications name a transaction by its reference in a header, and none is found about ${nameOf(unnamable)}: its reference ${unnamable.reference} is not ASCII, and how it is encoded there is open.`,
        );
    },
  ),
  contractCheck("webhook.event", "6.event", "A notification has the item event.", row, async (kit) => {
    await eachDelivery(kit, (one) => {
      expectItem(one, "event");
    });
  }),
  contractCheck(
    "webhook.event.name",
    "6.event",
    "A transaction is announced with the event transaction.updated. Other kinds may be sent too.",
    { ...row, needs: ["webhook.event"] },
    async (kit) => {
      const { deliveries, arrived, created, states } = await announced(kit);
      const events = [...new Set(deliveries.flatMap(eventsOf))];
      expect(
        events.includes("transaction.updated"),
        "the event transaction.updated",
        `only the event ${listOf(events)}`,
      );
      for (const transaction of created) {
        const state = states.get(transaction.reference) ?? "";
        const hasResult = (one: Delivery) =>
          isAbout(kit, one, transaction) && statesIn(kit, one, transaction).includes(state);
        const other = arrived.find(hasResult);
        if (other === undefined || deliveries.some(hasResult)) continue;
        fail(
          `the result ${state} of ${nameOf(transaction)} with the event transaction.updated, as its other changes`,
          `it only with the event ${listOf(eventsOf(other))}, in notification ${other.index}`,
          [other],
        );
      }
    },
  ),
  contractCheck(
    "webhook.signature",
    "6.signature",
    "A notification has the item signature.",
    row,
    async (kit) => {
      await eachDelivery(kit, (one) => {
        expectItem(one, "signature");
      });
    },
  ),
  contractCheck(idPresent, "6.delivery-id", "A notification has the item delivery_id.", row, async (kit) => {
    await eachDelivery(kit, (one) => {
      expectItem(one, "delivery_id");
    });
  }),
  contractCheck(
    valid,
    "6.delivered",
    "The signature verifies over the bytes that arrived.",
    // A signature can be over these, and what is not there is their failure.
    { ...row, needs: ["webhook.signature"], unlessFailed: ["webhook.event", idPresent] },
    async (kit) => {
      for (const one of (await announced(kit)).deliveries) await expectSigned(kit, one);
    },
  ),
  contractCheck(
    idUnique,
    "6.unique",
    "Two notifications that differ do not share a delivery_id.",
    { ...row, needs: [idPresent] },
    async (kit) => {
      const { deliveries, created } = await announced(kit);
      const first = new Map<string, Delivery>();
      for (const one of deliveries.filter(isAnswered)) {
        const id = itemOf(one, "delivery_id") ?? "";
        const other = first.get(id) ?? one;
        first.set(id, other);
        const [ids, itsIds] = [one, other].map((each) => namesOf(aboutIn(kit, each, created)));
        expect(
          ids === itsIds,
          "a delivery_id of its own for each notification",
          `${id} for two transactions, ${itsIds} and ${ids}; a receiver ignores the second`,
          [other, one],
        );
        // Other members, such as the number of the attempt, may differ when a notification is repeated.
        const [states, itsStates] = [one, other].map((each) => listOf(allStatesIn(kit, each, created)));
        expect(
          states === itsStates,
          "a delivery_id of its own for each notification",
          `${id} for two notifications whose bodies differ (notifications ${other.index} and ${one.index}, with the states ${itsStates} and ${states}); a receiver ignores the second`,
          [other, one],
        );
      }
      warnOfTwins(kit, deliveries, created);
    },
  ),
  contractCheck(
    "webhook.result",
    "4.rule-4",
    "The result in a notification is the one that GET shows.",
    { ...row, needs: ["webhook.each"], unlessFailed: ["tx.get.own", "webhook.event.name"] },
    async (kit) => {
      const { deliveries, states, created } = await announced(kit);
      if (states.size === 0)
        throw new NotOffered(
          "GET shows no result to compare with: the 202 has no id, or the target file does not say which states are final (final_states).",
        );
      const path = kit.target.webhooks?.state;
      const all = deliveries.flatMap((one) => allStatesIn(kit, one, created));
      if (all.length === 0) {
        if (path === undefined) throw new NotOffered("Notifications show no state, and need not.");
        fail(
          `a state at ${path}, where webhooks.state of the target file says`,
          describeFirst(deliveries),
          deliveries.slice(0, 1),
        );
      }
      // What GET has shown as the state of one of them is a state, also if it is not the result.
      const read = created.flatMap(({ id }) => (id === undefined ? [] : readsOf(kit, id)));
      const known = [...kit.target.finalStates, ...read.flatMap((one) => stateOf(kit.target, one) ?? [])];
      if (path === undefined && !all.some((state) => known.includes(state)))
        throw new NotOffered(
          `Notifications have ${[...new Set(all)].join(", ")} as their state or status, which GET did not show during the run, so it may be something else. If they show the state, name its place in webhooks.state of the target file.`,
        );
      for (const transaction of created) {
        const state = states.get(transaction.reference) ?? "";
        const own = deliveries.filter((one) => isAbout(kit, one, transaction));
        const reported = own.flatMap((one) => statesIn(kit, one, transaction));
        const wanted = `a notification with the state ${state} that GET shows`;
        const seen = `${listOf(reported)} for ${nameOf(transaction)}`;
        if (reported.includes(state)) continue;
        if (reported.some((one) => kit.target.finalStates.includes(one))) fail(wanted, seen, own);
        kit.attach(own);
        failOverdue(kit, "webhookMs", wanted, seen);
      }
    },
  ),
  contractCheck(
    "webhook.visible",
    "3.state",
    "A result that is announced can already be read with GET.",
    { ...row, needs: ["webhook.result"] },
    async (kit) => {
      const { deliveries, created } = await announced(kit);
      expectVisible(kit, deliveries, created);
    },
  ),
];

/** A registration that does not have the address of the receiver may be why nothing arrives. */
function refuseUnannounced(kit: Kit, what: string): never {
  const { register } = kit.target.webhooks ?? {};
  if (register !== undefined && !JSON.stringify([register.path, register.body]).includes("{url}"))
    throw new Undecided(
      `Expected ${what}; seen none. webhooks.register of the target file does not send the address of the receiver: put {url} where it belongs.`,
    );
  return failOverdue(kit, "webhookMs", what, "none");
}

/** A body that is cut lacks whatever is in it, which is one failure. */
function expectItem(delivery: Delivery, name: "event" | "signature" | "delivery_id"): void {
  if (itemOf(delivery, name) !== undefined) return;
  const [, type = ""] = delivery.headers.find(([own]) => own.toLowerCase() === "content-type") ?? [];
  if (delivery.json === undefined && /[/+]json\b/i.test(type))
    throw new CheckFailed(
      `a body that can be read as JSON, as its content type ${type} says`,
      `${delivery.decoded.length} bytes that are not: ${delivery.decoded.toString("utf8").slice(-100)} at the end`,
      "webhook.event",
      [delivery],
    );
  fail(`a field or header ${name}`, describeItems(delivery), [delivery]);
}

async function eachDelivery(kit: Kit, look: (delivery: Delivery) => void): Promise<void> {
  for (const delivery of (await announced(kit)).deliveries) look(delivery);
}

/** Verifies as the target file says; not offered if it does not say it. */
export async function expectSigned(kit: Kit, delivery: Delivery, before = ""): Promise<void> {
  const { webhooks, secret, receiver } = await endpoint(kit);
  const { signature: scheme, messageSignatures } = webhooks;
  const needsNoSecret = scheme?.scheme === "command" || messageSignatures?.publicKey !== undefined;
  if (scheme === undefined || (secret === undefined && !needsNoSecret))
    throw new NotOffered(
      "The target file does not say how notifications are signed (webhooks.signature and its secret).",
    );
  const verifier = { scheme, messageSignatures, secret: secret ?? "", url: receiver.url };
  if (await verifySignature(verifier, delivery)) return;
  fail(
    `a signature that verifies over the bytes of notification ${delivery.index}, as webhooks.signature of the target file describes it`,
    before + (await explainInvalid(verifier, delivery)),
    [delivery],
  );
}

const aboutIn = (kit: Kit, delivery: Delivery, created: readonly Accepted[]) =>
  created.filter((one) => isAbout(kit, delivery, one));

const listOf = (names: readonly string[]) => names.join(", ") || "none";

const namesOf = (transactions: readonly Accepted[]) => listOf(transactions.map(nameOf));

/** Two changes can look the same, so it is no failure; but a receiver cannot know that it handles one of them twice. */
function warnOfTwins(kit: Kit, deliveries: readonly Delivery[], created: readonly Accepted[]): void {
  const first = new Map<string, Delivery>();
  const twins: string[] = [];
  for (const one of deliveries.filter((each) => allStatesIn(kit, each, created).length > 0)) {
    const id = itemOf(one, "delivery_id");
    // Which transaction it is about can be in a header.
    const content = `${namesOf(aboutIn(kit, one, created))} ${contentOf(one, id)}`;
    const other = first.get(content) ?? one;
    first.set(content, other);
    if (itemOf(other, "delivery_id") !== id) twins.push(`${other.index} and ${one.index}`);
  }
  if (twins.length > 0)
    kit.warn(
      `Notifications ${twins.slice(0, 3).join(", ")} say the same under two delivery_ids. If they are about one change, a receiver cannot ignore the second: the delivery_id must then be the same.`,
    );
}

const isAnswered = ({ status }: Delivery) => status >= 200 && status < 300;

const describeFirst = ([first]: readonly Delivery[]) => (first === undefined ? "none" : describeItems(first));

export function describeItems({ headers, decoded }: Delivery): string {
  const text = decoded.toString("utf8");
  return `the headers ${headers.map(([name]) => name.toLowerCase()).join(", ")} and the body ${text.slice(0, 200)}`;
}
