import { NotOffered } from "../engine/check.js";
import type { Kit } from "../engine/kit.js";
import type { Reply } from "../http/reply.js";
import { containsText, itemAt, mentions, placesOf } from "../webhooks/delivery-items.js";
import type { Delivery } from "../webhooks/receiver.js";
import { createdInRun } from "./shown-members.js";
import type { Announced } from "./webhook-scenarios.js";

/** How a notification shows that a transaction exists although its request was refused; undefined if it does not. */
export interface CreationEvidence {
  /** It has the reference. */
  readonly byReference: (delivery: Delivery, reference: string) => string | undefined;
  /** Whether notifications have ids. If they do not, `byId` finds nothing. */
  readonly hasIds: boolean;
  /** It has an id that no 202 has shown, of which GET shows the reference. */
  readonly byId: (delivery: Delivery, reference: string) => Promise<string | undefined>;
}

/** Where notifications have the id is seen from those about transactions whose id is known. */
export function createEvidence(kit: Kit, { deliveries, created }: Announced): CreationEvidence {
  const namesReference = deliveries.some((one) => created.some(({ reference }) => mentions(one, reference)));
  const places = new Set(
    deliveries.flatMap((one) => created.flatMap(({ id }) => (id === undefined ? [] : placesOf(one, id)))),
  );
  if (!namesReference && places.size === 0)
    throw new NotOffered(
      "Notifications name neither the reference nor the id, so they cannot show what was created.",
    );
  const shown = new Map<string, Promise<Reply>>();
  const show = (id: string) => {
    const reply = shown.get(id) ?? kit.send("GET", `/v1/transactions/${encodeURIComponent(id)}`);
    shown.set(id, reply);
    return reply;
  };
  return {
    hasIds: places.size > 0,
    byReference: (delivery, reference) =>
      mentions(delivery, reference) ? "which has its reference" : undefined,
    byId: async (delivery, reference) => {
      for (const place of places) {
        const id = lastSegment(itemAt(delivery, place) ?? "");
        if (id === "" || createdInRun(kit).some((one) => one.id === id)) continue;
        const { status, json } = await show(id);
        if (status === 200 && containsText(json, reference))
          return `which is about ${id}: GET shows it with this reference`;
      }
      return undefined;
    },
  };
}

const lastSegment = (text: string) => text.split("/").at(-1) ?? "";
