import { type Event as EventBody, showId } from "@bursar/protocol";
import type { LoggedEvent } from "../events/event.js";
import type { PresentEvents } from "../events/present-events.js";
import type { DueDelivery } from "./sending.js";

/** The body of each delivery, by its id: the same bytes at every attempt. */
export type MakeBodies = (due: readonly DueDelivery[]) => Promise<Map<string, string>>;

/** Makes the bodies of many deliveries; an event that goes to many endpoints is presented once. */
export function createBodyMaker(present: PresentEvents): MakeBodies {
  return async (due) => {
    const byTenant = new Map<string, Map<bigint, LoggedEvent>>();
    for (const { tenantId, event } of due) {
      const events = byTenant.get(tenantId) ?? new Map();
      byTenant.set(tenantId, events.set(event.sequence, event));
    }
    const presented = new Map<string, ReturnType<typeof bodyAround>>();
    await Promise.all(
      [...byTenant].map(async ([tenantId, events]) => {
        for (const body of await present(tenantId, [...events.values()]))
          presented.set(`${tenantId} ${body.sequence}`, bodyAround(body));
      }),
    );
    return new Map(
      due.map(({ tenantId, event, id }) => {
        const around = presented.get(`${tenantId} ${event.sequence}`);
        if (around === undefined) throw new Error("an event was not presented");
        return [id, around(showId("dlv", id))];
      }),
    );
  };
}

/** Deliveries of one event differ in their id alone, so the rest is written once. */
function bodyAround({ event, ...rest }: EventBody): (deliveryId: string) => string {
  const before = `{"event":${JSON.stringify(event)},"delivery_id":`;
  const after = `,${JSON.stringify(rest).slice(1)}`;
  return (deliveryId) => before + JSON.stringify(deliveryId) + after;
}
