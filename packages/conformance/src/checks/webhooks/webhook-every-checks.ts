import { contractCheck, fail } from "../../engine/check.js";
import type { Kit } from "../../engine/kit.js";
import { itemOf, mentions } from "../../webhooks/delivery-items.js";
import type { Delivery } from "../../webhooks/receiver.js";
import { createdInRun } from "../shown-members.js";

/** Looks at all notifications of the run, so it runs after the other checks. */
export const webhookEveryChecks = [
  contractCheck(
    "webhook.delivery-id.every",
    "6.unique",
    "No delivery_id of the run is that of notifications about two transactions.",
    {
      needs: ["webhook.delivery-id.unique"],
      unlessFailed: ["webhook.each", "webhook.retry.same-id"],
      writes: ["transaction", "webhook endpoint"],
      atEnd: true,
    },
    async (kit) => {
      const byId = new Map<string, Delivery>();
      for (const one of kit.session.receiver?.deliveries ?? []) {
        const id = itemOf(one, "delivery_id");
        if (id === undefined) continue;
        const other = byId.get(id) ?? one;
        byId.set(id, other);
        // An attempt that is repeated is usually the same in every byte.
        if (other === one || other.body.equals(one.body)) continue;
        const [ids, itsIds] = [one, other].map((each) => idsIn(kit, each));
        if (ids === itsIds || ids === "" || itsIds === "") continue;
        fail(
          "a delivery_id of its own for each notification",
          `${id} for two transactions, ${itsIds} and ${ids}, in notifications ${other.index} and ${one.index}; a receiver ignores the second`,
          [other, one],
        );
      }
    },
  ),
];

const idsIn = (kit: Kit, delivery: Delivery) =>
  [...new Set(createdInRun(kit).flatMap(({ id }) => id ?? []))]
    .filter((id) => mentions(delivery, id))
    .join(", ");
