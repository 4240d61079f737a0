import { contractCheck, expect, fail, NotOffered } from "../engine/check.js";
import type { Kit } from "../engine/kit.js";
import { itemOf, mentions } from "../webhooks/delivery-items.js";
import type { Delivery } from "../webhooks/receiver.js";
import { explainInvalid, verifySignature } from "../webhooks/verify-signature.js";
import { isFinal } from "./scenarios.js";
import { announced, endpoint, retried, stateIn } from "./webhook-scenarios.js";

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
      const { deliveries, created } = await announced(kit);
      const ids = created.map(({ id }) => id).join(" and ");
      expect(
        deliveries.length > 0,
        `a notification that names ${ids} within ${kit.target.timing.webhookMs} ms`,
        "none",
      );
    },
  ),
  contractCheck(
    "webhook.each",
    "6.emitted",
    "Every transaction that is updated is announced.",
    row,
    async (kit) => {
      const { deliveries, created } = await announced(kit);
      for (const { id } of created)
        expect(
          deliveries.some((one) => mentions(one, id)),
          `a notification about each of two transactions`,
          `none about ${id}`,
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
    "The event is named transaction.updated.",
    { ...row, needs: ["webhook.event"] },
    async (kit) => {
      await eachDelivery(kit, (one) => {
        const event = itemOf(one, "event");
        expect(event === "transaction.updated", "the event transaction.updated", `the event ${event}`);
      });
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
    "Two notifications do not share a delivery_id.",
    { ...row, needs: [idPresent, "webhook.each"] },
    async (kit) => {
      const { deliveries, created } = await announced(kit);
      const [first, second] = created.map(
        ({ id }) =>
          new Set(deliveries.filter((one) => mentions(one, id)).map((one) => itemOf(one, "delivery_id"))),
      );
      const both = [...(first ?? [])].filter((id) => second?.has(id));
      expect(
        both.length === 0,
        "a delivery_id of its own for each notification",
        `${both.join(", ")} for two transactions`,
      );
    },
  ),
  contractCheck(
    "webhook.once",
    "6.procedure",
    "A notification that was answered with 2xx is not sent again.",
    { ...row, needs: [idUnique] },
    async (kit) => {
      const { deliveries } = await announced(kit);
      const ids = deliveries
        .filter(({ status }) => status >= 200 && status < 300)
        .map((one) => itemOf(one, "delivery_id"));
      const again = ids.find((id, index) => ids.indexOf(id) !== index);
      expect(
        again === undefined,
        "one notification for each delivery_id that was answered with 2xx",
        `${again} again`,
      );
    },
  ),
  contractCheck(
    "webhook.result",
    "4.rule-4",
    "The result in a notification is the one that GET shows.",
    { ...row, needs: ["webhook.each"] },
    async (kit) => {
      const { deliveries, states } = await announced(kit);
      if (deliveries.every((one) => stateIn(kit, one) === undefined))
        throw new NotOffered("Notifications show no state (or webhooks.state of the target file is wrong).");
      for (const [id, state] of states) {
        const reported = deliveries.filter((one) => mentions(one, id)).map((one) => stateIn(kit, one));
        expect(
          reported.includes(state),
          `a notification with the state ${state} that GET shows`,
          `${reported.join(", ") || "none"} for ${id}`,
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
    { ...row, needs: ["webhook.each"] },
    async (kit) => {
      const { second } = await retried(kit);
      expect(second !== undefined, `another attempt within ${kit.target.timing.retryMs} ms of a 500`, "none");
    },
  ),
  contractCheck(
    "webhook.retry.same-id",
    "6.unique",
    "An attempt that is repeated has the same delivery_id.",
    { ...row, needs: [retry, idPresent] },
    async (kit) => {
      const { first, second } = await retried(kit);
      const [id, again] = [itemOf(first, "delivery_id"), second && itemOf(second, "delivery_id")];
      expect(id === again, `the delivery_id ${id} at the next attempt`, `the delivery_id ${again}`);
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
    "a signature that verifies over the bytes of the notification",
    await explainInvalid(verifier, delivery),
  );
}

function describeItems({ headers, body }: Delivery): string {
  const text = body.toString("utf8");
  return `the headers ${headers.map(([name]) => name.toLowerCase()).join(", ")} and the body ${text.slice(0, 200)}`;
}
