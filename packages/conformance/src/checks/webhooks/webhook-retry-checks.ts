import { contractCheck, expect, fail, NotOffered } from "../../engine/check.js";
import { showValue } from "../../engine/name-value.js";
import { itemOf } from "../../webhooks/delivery-items.js";
import { unanswered } from "../../webhooks/receiver.js";
import { acceptTransaction } from "../keys/key-scenarios.js";
import { failOverdue } from "../scenarios.js";
import { describeItems, expectSigned } from "./webhook-checks.js";
import { endpoint } from "./webhook-endpoint.js";
import { isAbout, nameOf } from "./webhook-names.js";
import { isRepeated, retried } from "./webhook-retry-scenario.js";
import { announced } from "./webhook-scenarios.js";

const retry = "webhook.retry";
const idPresent = "webhook.delivery-id";
const idUnique = "webhook.delivery-id.unique";
const valid = "webhook.signature.valid";
/** Checks that wait for a notification later in the run would repeat its failure. */
const eachLater = "webhook.each.later";
const row = { needs: ["webhook.sent"], writes: ["transaction", "webhook endpoint"] as const };

const whyNot: ReadonlyMap<number, string> = new Map([
  [302, ", which is no 2xx and names no other address"],
  [429, ", which is no 2xx and has Retry-After: 1"],
]);

/** What follows a notification that the receiver has not accepted. When, and how often, is open. */
export const webhookRetryChecks = [
  contractCheck(
    retry,
    "6.delivered",
    "A notification that was answered with 500, 503, 429 or 302 or not at all is sent again, also one with the result that was not answered.",
    { ...row, unlessFailed: ["webhook.each", idUnique, "webhook.event.name"] },
    async (kit) => {
      const repeated = await retried(kit);
      if (!isRepeated(repeated))
        failOverdue(kit, "retryMs", "another attempt after a notification was answered with 500", "none");
      const { first, unrepeated, unrepeatedWhenBusy: busy, unrepeatedWhenTurnedAway } = repeated;
      const although = `none, although notification ${first.index} before it was repeated`;
      const busyFirst = busy === undefined ? [] : [{ status: 503, first: busy }];
      for (const { status, first: one } of [...busyFirst, ...unrepeatedWhenTurnedAway]) {
        kit.attach([first, one]);
        const answer =
          status === unanswered
            ? "not answered: the receiver closed the connection"
            : `answered with ${status}${whyNot.get(status) ?? ""}`;
        const wanted = `another attempt after notification ${one.index} was ${answer}`;
        failOverdue(kit, "retryMs", wanted, although);
      }
      if (unrepeated === undefined) return;
      kit.attach([first, unrepeated]);
      const wanted = `another attempt after notification ${unrepeated.index}, which has the result, was not answered: the receiver closed the connection`;
      failOverdue(kit, "retryMs", wanted, although);
    },
  ),
  contractCheck(
    eachLater,
    "6.emitted",
    "A transaction is announced also after the receiver has refused a notification.",
    { ...row, needs: [retry], unlessFailed: ["webhook.each", idUnique] },
    async (kit) => {
      const { first } = await retried(kit);
      if (!(await announced(kit)).isAttributed)
        throw new NotOffered("Notifications do not say which transaction they are about.");
      const { receiver } = await endpoint(kit);
      const created = await acceptTransaction(kit);
      const found = await kit.watch(kit.target.timing.webhookMs, async () =>
        receiver.deliveries.slice(first.index).find((one) => isAbout(kit, one, created)),
      );
      if (found !== undefined) return;
      kit.attach([first]);
      const wanted = `a notification about ${nameOf(created)}, which was created after notification ${first.index} was answered with 500`;
      failOverdue(kit, "webhookMs", wanted, "none, although those before it were announced");
    },
  ),
  contractCheck(
    "webhook.retry.same-id",
    "6.unique",
    "An attempt that is repeated has the same delivery_id.",
    { ...row, needs: [retry, idPresent] },
    async (kit) => {
      const { first, second, renamed, regrouped } = await retried(kit);
      if (regrouped !== undefined)
        throw new NotOffered(
          `What notification ${first.index} said is sent again in notification ${regrouped.index}, together with other items, which is another delivery.`,
        );
      if (second !== undefined || renamed === undefined) return;
      const id = itemOf(renamed, "delivery_id");
      const under = id === undefined ? "without a delivery_id" : `under the delivery_id ${id}`;
      fail(
        `the delivery_id ${showValue(itemOf(first, "delivery_id"))} of notification ${first.index} at the next attempt`,
        `the same content ${under} (notification ${renamed.index}), and nothing more under the first within ${kit.target.timing.retryMs} ms`,
        [first, renamed],
      );
    },
  ),
  contractCheck(
    "webhook.retry.signed",
    "6.delivered",
    "An attempt that is repeated is signed.",
    { ...row, needs: [retry, valid] },
    async (kit) => {
      const { first, second } = await retried(kit);
      if (second === undefined) return;
      expect(
        itemOf(second, "signature") !== undefined,
        "a signature at the next attempt",
        describeItems(second),
        [first, second],
      );
      const isOfFirst = itemOf(second, "signature") === itemOf(first, "signature");
      await expectSigned(
        kit,
        second,
        isOfFirst ? `the signature of notification ${first.index} again: ` : "",
      );
    },
  ),
];
