import { contractCheck, expect, fail, NotOffered } from "../../engine/check.js";
import type { Kit } from "../../engine/kit.js";
import { eventsOf, itemOf } from "../../webhooks/delivery-items.js";
import type { Delivery } from "../../webhooks/receiver.js";
import { furtherRequests } from "../every/further-requests.js";
import { withId } from "../keys/key-scenarios.js";
import { sendNew } from "../keys/new-key.js";
import { failOverdue, isAccepted } from "../scenarios.js";
import { refuseIfUnread } from "./unread-notifications.js";
import { describeItems, expectSigned } from "./webhook-checks.js";
import { endpoint } from "./webhook-endpoint.js";
import { unannounced } from "./webhook-every-transaction.js";
import { idsIn, isAbout, namesIn, tellingLength } from "./webhook-names.js";
import { refuseRenamed, thirdAttempt } from "./webhook-retry-scenario.js";
import { announced } from "./webhook-scenarios.js";

/** Looks at all notifications of the run, so it runs after the other checks. */

const writes = ["transaction", "webhook endpoint"] as const;
const retry = "webhook.retry";

/** A command that verifies is a process of its own for each notification. */
const commandsMax = 20;

export const webhookEveryChecks = [
  contractCheck(
    "webhook.delivery-id.every",
    "6.unique",
    "Every notification of the run has a delivery_id, a third attempt that of the second, and none that of a notification about another transaction.",
    {
      needs: ["webhook.delivery-id.unique"],
      unlessFailed: ["webhook.each", "webhook.retry.same-id"],
      writes,
      atEnd: true,
    },
    async (kit) => {
      const third = await thirdAttempt(kit);
      const byId = new Map<string, Delivery>();
      let isWarned = false;
      for (const one of kit.session.receiver?.deliveries ?? []) {
        const id = itemOf(one, "delivery_id");
        if (id === undefined) {
          if (isSurelyOfRun(kit, one)) fail("a field or header delivery_id", describeItems(one), [one]);
          continue;
        }
        const other = byId.get(id) ?? one;
        byId.set(id, other);
        // An attempt that is repeated is usually the same in every byte.
        if (other === one || other.body.equals(one.body)) continue;
        const two = findTwo(kit, other, one);
        if (two === undefined) continue;
        const seen = `${id} for two transactions, ${two.names.join(" and ")}, in notifications ${other.index} and ${one.index}`;
        if (two.areCertain)
          fail("a delivery_id of its own for each notification", `${seen}; a receiver ignores the second`, [
            other,
            one,
          ]);
        if (!isWarned)
          kit.warn(
            `The delivery_id ${seen}, if these are ids. They are so short that they can be something else; name their place in webhooks.transaction_id of the target file, and it is decided.`,
          );
        isWarned = true;
      }
      if (third?.renamed !== undefined) refuseRenamed(third.first, third.renamed);
    },
  ),
  contractCheck(
    "webhook.event.every",
    "6.event",
    "Every notification of the run has the item event, and an attempt that is repeated has the same.",
    {
      needs: ["webhook.event.name"],
      unlessFailed: ["webhook.delivery-id", "webhook.delivery-id.unique", "webhook.delivery-id.every"],
      writes,
      atEnd: true,
    },
    async (kit) => {
      await announced(kit);
      await thirdAttempt(kit);
      const byId = new Map<string, Delivery>();
      for (const one of kit.session.receiver?.deliveries ?? []) {
        const id = itemOf(one, "delivery_id");
        const first = id === undefined ? undefined : byId.get(id);
        if (id !== undefined && first === undefined) byId.set(id, one);
        const [event, itsEvent] = [one, first].map((each) => each && eventsOf(each).join(", "));
        const again = first === undefined ? "" : `, as notification ${first.index} with the same delivery_id`;
        if (event === "" && (first !== undefined || isSurelyOfRun(kit, one)))
          fail(`a field or header event${again}`, describeItems(one), [first ?? one, one]);
        expect(
          first === undefined || event === itsEvent,
          `the event ${itsEvent} at every attempt with the delivery_id ${id}`,
          `the event ${event} in notification ${one.index}`,
          [first ?? one, one],
        );
      }
    },
  ),
  contractCheck(
    "webhook.signature.every",
    "6.delivered",
    "Every notification of the run is signed.",
    {
      needs: ["webhook.signature.valid"],
      // A target whose old secret does not sign any more after it was replaced has that failure.
      unlessFailed: [
        "webhook.retry.signed",
        "webhook.retry.same-id",
        "webhook.event.every",
        "rfc9421.rotation",
      ],
      writes,
      atEnd: true,
    },
    async (kit) => {
      const { isUpdate } = await announced(kit);
      await lateNotifications(kit);
      const { webhooks } = await endpoint(kit);
      const all = (kit.session.receiver?.deliveries ?? []).filter(isUpdate);
      const bySize = all.toSorted((one, other) => other.body.length - one.body.length);
      const isCommand = webhooks.signature?.scheme === "command";
      const half = commandsMax / 2;
      for (const one of isCommand ? [...bySize.slice(0, half), ...bySize.slice(half).slice(-half)] : all) {
        if (itemOf(one, "signature") === undefined && !isSurelyOfRun(kit, one)) continue;
        await expectSigned(kit, one);
      }
    },
  ),
  contractCheck(
    "webhook.each.every",
    "6.emitted",
    "Every transaction of the run whose result GET has shown is announced, and its result if the target file says where notifications have it.",
    {
      needs: ["webhook.each"],
      unlessFailed: [
        "tx.create.id-is-string",
        "webhook.each.later",
        "webhook.result",
        "failed.announced",
        retry,
        "webhook.event.every",
        "tx.get.every",
        "tx.create.together",
      ],
      writes,
      atEnd: true,
    },
    async (kit) => {
      if (!(await announced(kit)).isAttributed)
        throw new NotOffered("Notifications do not say which transaction they are about.");
      await lateNotifications(kit);
      const { missing, withoutResult, looked } = await unannounced(kit);
      const [first] = missing.length > 0 ? missing : withoutResult;
      if (first === undefined) return;
      const creation = kit.session.exchanges[first.index];
      if (creation !== undefined) kit.cite([creation]);
      const more = Math.max(missing.length, withoutResult.length) - 1;
      const rest = more > 0 ? `, and about ${more} more` : "";
      const isAnnounced = missing.length === 0;
      const wanted = `a notification ${isAnnounced ? "with the result of" : "about"} each of ${looked} transactions of the run whose result GET has shown, within ${kit.target.timing.webhookMs} ms`;
      const other = isAnnounced ? ", but notifications with another state" : "";
      const seen = `none about ${first.id}, which was accepted in exchange ${first.index}${other}${rest}`;
      refuseIfUnread(kit, wanted, seen);
      if (isAnnounced && !kit.target.statedTiming.has("webhookMs"))
        failOverdue(kit, "webhookMs", wanted, seen);
      fail(wanted, seen);
    },
  ),
];

const isSurelyOfRun = (kit: Kit, delivery: Delivery) => idsIn(kit, delivery).areCertain;

interface Two {
  /** What each of two notifications names. */
  readonly names: readonly string[];
  readonly areCertain: boolean;
}

/** What two notifications name, if it is not the same. Ids that are so short that they can be something else tell less than references. */
function findTwo(kit: Kit, ...both: readonly [Delivery, Delivery]): Two | undefined {
  const [one, other] = both.map((each) => idsIn(kit, each));
  if (one === undefined || other === undefined) return undefined;
  const isShared = (id: string) => one.ids.includes(id) && other.ids.includes(id);
  const different = [...one.ids, ...other.ids].filter((id) => !isShared(id));
  if (different.length === 0 || one.ids.length === 0 || other.ids.length === 0) return undefined;
  const names = [one, other].map(({ ids }) => ids.join(", "));
  const areNamed = kit.target.webhooks?.transactionId !== undefined;
  if (areNamed || different.some((id) => id.length >= tellingLength)) return { names, areCertain: true };
  const areSure = one.areCertain && other.areCertain;
  if (areSure) return one.ids.some(isShared) ? undefined : { names, areCertain: true };
  const references = both.map((each) => namesIn(kit, each));
  if (references.some((some) => some.length === 0)) return { names, areCertain: false };
  const [its = [], others = []] = references;
  if (its.some((name) => others.includes(name))) return undefined;
  return { names: references.map((some) => some.join(", ")), areCertain: true };
}

/** Requests that are sent at the end are announced too. The exact amount was sent before there was a receiver, so it is sent once more. */
export const lateNotifications = (kit: Kit): Promise<void> =>
  kit.fixture("notifications at the end", async (own) => {
    await furtherRequests(own);
    await thirdAttempt(own);
    if (own.target.exact !== undefined) await announceExact(own, own.target.exact);
    await own.sleep(own.target.timing.quietMs);
  });

async function announceExact(kit: Kit, fields: Readonly<Record<string, unknown>>): Promise<void> {
  const attempt = await sendNew(kit, { fields });
  if (!isAccepted(kit.target, attempt.reply)) return;
  const own = withId(kit, attempt);
  // If none comes, the check that looks for one about each transaction says so.
  await kit.watch(kit.target.timing.webhookMs, async () =>
    kit.session.receiver?.deliveries.find((one) => isAbout(kit, one, own)),
  );
}
