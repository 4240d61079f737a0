import { contractCheck, expect, fail, NotOffered } from "../engine/check.js";
import type { Kit } from "../engine/kit.js";
import { itemOf } from "../webhooks/delivery-items.js";
import type { Delivery } from "../webhooks/receiver.js";
import { explainInvalid, verifySignature } from "../webhooks/verify-signature.js";
import { failOverdue, isFinal } from "./scenarios.js";
import { endpoint } from "./webhook-endpoint.js";
import { announced, isAbout, retried, stateIn } from "./webhook-scenarios.js";

const sent = "webhook.sent";
const idPresent = "webhook.delivery-id";
const idUnique = "webhook.delivery-id.unique";
const valid = "webhook.signature.valid";
const retry = "webhook.retry";
const writes = ["transaction", "webhook endpoint"] as const;
const row = { needs: [sent], writes };

/** Notifications. Which changes cause one, its body and its algorithm are open. */
export const webhookChecks = [
  contractCheck(
    sent,
    "1.webhooks",
    "A transaction that is updated is announced to a registered receiver.",
    { needs: ["tx.get.result-stays"], writes },
    async (kit) => {
      const { deliveries, created, arrived, isAttributed } = await announced(kit);
      const [first] = arrived;
      const what = `a notification about ${created.map(({ id }) => id).join(" or ")}`;
      const place = kit.target.webhooks?.transactionId;
      if (first === undefined) failOverdue(kit, "webhookMs", what, "none");
      if (deliveries.length === 0)
        fail(
          `${what}: its id or its reference at ${place}, where webhooks.transaction_id of the target file says`,
          `${arrived.length} without it; the first has ${describeItems(first)}`,
        );
      if (!isAttributed)
        kit.warn(
          `${arrived.length} notifications arrived. None has the id or the reference of a transaction as a field, a header or a word of its body, so the kit cannot say which transaction they are about; webhooks.transaction_id of the target file can name the place. The first has ${describeItems(first)}.`,
        );
    },
  ),
  contractCheck(
    "webhook.each",
    "6.emitted",
    "Every transaction that is updated is announced.",
    row,
    async (kit) => {
      const { deliveries, created, isAttributed } = await announced(kit);
      if (!isAttributed) throw new NotOffered("Notifications do not say which transaction they are about.");
      for (const transaction of created)
        expect(
          deliveries.some((one) => isAbout(kit, one, transaction)),
          `a notification about each of ${created.length} transactions within ${kit.target.timing.webhookMs} ms (timing.webhook_ms of the target file)`,
          `none about ${transaction.id}`,
        );
    },
  ),
  contractCheck("webhook.event", "6.event", "A notification has the item event.", row, async (kit) => {
    await eachDelivery(kit, (one) => {
      expect(itemOf(one, "event") !== undefined, "a field or header event", describeItems(one));
    });
  }),
  contractCheck(
    "webhook.event.name",
    "6.event",
    "A transaction is announced with the event transaction.updated. Other kinds may be sent too.",
    { ...row, needs: ["webhook.event"] },
    async (kit) => {
      const events = [...new Set((await announced(kit)).deliveries.map((one) => itemOf(one, "event")))];
      expect(
        events.includes("transaction.updated"),
        "the event transaction.updated",
        `only the event ${events.join(", ")}`,
      );
    },
  ),
  contractCheck(
    "webhook.signature",
    "6.signature",
    "A notification has the item signature.",
    row,
    async (kit) => {
      await eachDelivery(kit, (one) => {
        expect(itemOf(one, "signature") !== undefined, "a field or header signature", describeItems(one));
      });
    },
  ),
  contractCheck(
    valid,
    "6.delivered",
    "The signature verifies over the bytes that arrived.",
    { ...row, needs: ["webhook.signature"] },
    async (kit) => {
      for (const one of (await announced(kit)).deliveries) await expectSigned(kit, one);
    },
  ),
  contractCheck(idPresent, "6.delivery-id", "A notification has the item delivery_id.", row, async (kit) => {
    await eachDelivery(kit, (one) => {
      expect(itemOf(one, "delivery_id") !== undefined, "a field or header delivery_id", describeItems(one));
    });
  }),
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
        const [transaction, its] = [one, other].map((each) =>
          created.find((candidate) => isAbout(kit, each, candidate)),
        );
        expect(
          transaction === its,
          "a delivery_id of its own for each notification",
          `${id} for two transactions, ${its?.id} and ${transaction?.id}; a receiver ignores the second`,
        );
        expect(
          // Other members, such as the number of the attempt, may differ when a notification is repeated.
          stateIn(kit, one) === stateIn(kit, other),
          "a delivery_id of its own for each notification",
          `${id} for two notifications whose bodies differ (notifications ${other.index} and ${one.index}, with the states ${stateIn(kit, other)} and ${stateIn(kit, one)}); a receiver ignores the second`,
        );
      }
    },
  ),
  contractCheck(
    "webhook.result",
    "4.rule-4",
    "The result in a notification is the one that GET shows.",
    { ...row, needs: ["webhook.each"] },
    async (kit) => {
      const { deliveries, states, created } = await announced(kit);
      const path = kit.target.webhooks?.state;
      if (deliveries.every((one) => stateIn(kit, one) === undefined)) {
        if (path === undefined) throw new NotOffered("Notifications show no state, and need not.");
        fail(`a state at ${path}, where webhooks.state of the target file says`, describeFirst(deliveries));
      }
      for (const transaction of created) {
        const state = states.get(transaction.id);
        const own = deliveries.filter((one) => isAbout(kit, one, transaction));
        const reported = own.map((one) => stateIn(kit, one) ?? "no state");
        expect(
          reported.includes(state ?? ""),
          `a notification with the state ${state} that GET shows`,
          `${reported.join(", ") || "none"} for ${transaction.id}`,
        );
      }
    },
  ),
  contractCheck(
    "webhook.visible",
    "3.state",
    "A result that is announced can already be read with GET.",
    { ...row, needs: ["webhook.result"] },
    async (kit) => {
      await eachDelivery(kit, (one) => {
        const state = stateIn(kit, one);
        if (state === undefined || one.shownState === undefined || !isFinal(kit.target, state)) return;
        expect(
          one.shownState === state,
          `GET to show ${state} when a notification with it arrives`,
          `GET shows ${one.shownState}: it was sent before the change was visible`,
        );
      });
    },
  ),
  contractCheck(
    retry,
    "6.delivered",
    "A notification that was answered with 500 is sent again.",
    { ...row, unlessFailed: ["webhook.each", idUnique] },
    async (kit) => {
      const { second, renamed } = await retried(kit);
      if (second === undefined && renamed === undefined)
        failOverdue(kit, "retryMs", "another attempt after a notification was answered with 500", "none");
    },
  ),
  contractCheck(
    "webhook.retry.same-id",
    "6.unique",
    "An attempt that is repeated has the same delivery_id.",
    { ...row, needs: [retry, idPresent] },
    async (kit) => {
      const { first, second, renamed } = await retried(kit);
      expect(
        second !== undefined || renamed === undefined,
        `the delivery_id ${itemOf(first, "delivery_id")} of notification ${first.index} at the next attempt`,
        `the same content under the delivery_id ${renamed && itemOf(renamed, "delivery_id")} (notification ${renamed?.index}), and nothing more under the first within ${kit.target.timing.retryMs} ms`,
      );
    },
  ),
  contractCheck(
    "webhook.retry.signed",
    "6.delivered",
    "An attempt that is repeated is signed.",
    { ...row, needs: [retry, valid] },
    async (kit) => {
      const { second } = await retried(kit);
      if (second === undefined) return;
      expect(
        itemOf(second, "signature") !== undefined,
        "a signature at the next attempt",
        describeItems(second),
      );
      await expectSigned(kit, second);
    },
  ),
];

async function eachDelivery(kit: Kit, look: (delivery: Delivery) => void): Promise<void> {
  for (const delivery of (await announced(kit)).deliveries) look(delivery);
}

async function expectSigned(kit: Kit, delivery: Delivery): Promise<void> {
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
    await explainInvalid(verifier, delivery),
  );
}

const isAnswered = ({ status }: Delivery) => status >= 200 && status < 300;

const describeFirst = ([first]: readonly Delivery[]) => (first === undefined ? "none" : describeItems(first));

function describeItems({ headers, body }: Delivery): string {
  const text = body.toString("utf8");
  return `the headers ${headers.map(([name]) => name.toLowerCase()).join(", ")} and the body ${text.slice(0, 200)}`;
}
