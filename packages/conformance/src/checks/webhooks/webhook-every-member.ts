import { contractCheck, fail, NotOffered } from "../../engine/check.js";
import { compareDecimals, parseScientific } from "../../engine/decimal.js";
import type { Kit } from "../../engine/kit.js";
import { showValue } from "../../engine/name-value.js";
import { containsText } from "../../webhooks/delivery-items.js";
import type { Delivery } from "../../webhooks/receiver.js";
import { sentInRun } from "../every/run-transactions.js";
import { describeItems } from "./webhook-checks.js";
import { lateNotifications } from "./webhook-every-checks.js";
import { isIn, type Nameable, nameable, nameIds, textOf } from "./webhook-every-result.js";
import { isAbout } from "./webhook-names.js";
import { announced, namedFieldsIn } from "./webhook-scenarios.js";

/** What notifications say of a transaction besides its state, where the target file says. */

const memberNames = ["amount", "asset", "reference"] as const;
type MemberName = (typeof memberNames)[number];

export const webhookMemberChecks = [
  contractCheck(
    "webhook.members.every",
    "1.webhooks",
    "Every notification of the run has the amount, also an exact one, the asset and the reference of its transaction as they were sent, where the target file names them.",
    {
      needs: ["webhook.sent"],
      unlessFailed: [
        "webhook.each",
        "webhook.event",
        "webhook.delivery-id.unique",
        "webhook.delivery-id.every",
        "key.every",
        "tx.create.together",
      ],
      writes: ["transaction", "webhook endpoint"],
      atEnd: true,
    },
    async (kit) => {
      const { webhooks } = kit.target;
      const names = memberNames.filter((name) => webhooks?.[name] !== undefined);
      if (names.length === 0)
        throw new NotOffered(
          "The target file does not say where notifications have an amount, an asset or a reference (webhooks.amount, webhooks.asset, webhooks.reference).",
        );
      const before = await announced(kit);
      if (!nameIds(kit, before))
        throw new NotOffered(
          "Notifications have no ids that the 202 shows. Others can have the same reference, such as that of a fee, so the kit cannot say which transaction an amount belongs to.",
        );
      await lateNotifications(kit);
      const updates = (kit.session.receiver?.deliveries ?? []).filter(before.isUpdate);
      const named = nameable(kit, before.deliveries, before.created);
      const sent = new Map(sentInRun(kit).map(({ id, members }) => [id, members]));
      const all = updates.flatMap((delivery) => {
        const text = textOf(delivery);
        return named
          .filter((one) => sent.has(one.id) && isIn(text, one) && isAbout(kit, delivery, one.as))
          .map((transaction) => ({ delivery, transaction, members: sent.get(transaction.id) ?? {} }));
      });
      for (const name of names) expectMember(kit, name, all);
    },
  ),
];

/** A notification, a transaction that it is about, and what was sent for it. */
interface About {
  readonly delivery: Delivery;
  readonly transaction: Nameable;
  readonly members: Readonly<Record<string, unknown>>;
}

/** A notification need not have it, but not all may lack what the target file names. */
function expectMember(kit: Kit, name: MemberName, all: readonly About[]): void {
  let looked = 0;
  let lacking: Delivery | undefined;
  for (const { delivery: one, transaction, members } of all) {
    const wanted = members[name];
    if (typeof wanted !== "string") continue;
    const said = membersIn(kit, one, transaction, name);
    if (said.length === 0) lacking ??= one;
    else looked += 1;
    // Several belong to a batch whose items do not say which transaction they are about.
    if (new Set(said).size !== 1 || said.some((value) => isSame(name, value, wanted))) continue;
    fail(
      `the ${name} ${showValue(wanted)} of ${transaction.id}, as it was sent, in every notification about it`,
      `the ${name} ${showValue(said[0])} in notification ${one.index}`,
      [one],
    );
  }
  if (looked === 0 && lacking !== undefined)
    fail(
      `the ${name} at ${kit.target.webhooks?.[name]}, where webhooks.${name} of the target file says`,
      describeItems(lacking),
      [lacking],
    );
}

function membersIn({ target }: Kit, { json }: Delivery, { id }: Nameable, name: MemberName): string[] {
  const all = namedFieldsIn(target, json, name);
  const own = all.filter(({ item }) => containsText(item, id));
  return (own.length > 0 ? own : all).map(({ text }) => text);
}

/** How a number is written is open. */
function isSame(name: MemberName, value: string, wanted: string): boolean {
  if (name !== "amount" || value === wanted) return value.normalize() === wanted.normalize();
  const [one, other] = [value, wanted].map(parseScientific);
  return one !== undefined && other !== undefined && compareDecimals(one, other) === 0;
}
