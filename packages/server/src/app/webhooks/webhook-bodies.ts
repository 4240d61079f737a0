import { type Event as EventBody, showId } from "@bursar/protocol";
import type { LoggedEvent } from "../events/event.js";
import type { PresentEvents } from "../events/present-events.js";
import type { DueDelivery } from "./sending.js";

/** The body of each delivery, by its id: the same bytes at every attempt. Those whose event cannot be presented are missing. */
export type MakeBodies = (due: readonly DueDelivery[]) => Promise<Map<string, string>>;

export interface BodyMakerDeps {
  present: PresentEvents;
  /** Whether an error means that the database is away: then no event can be presented, and it is none of theirs. */
  isUnavailable: (error: unknown) => boolean;
  /** Told of an event that cannot be presented, which is a mistake of ours. */
  onUnpresentable: (event: LoggedEvent, error: unknown) => void;
}

/** Makes the bodies of many deliveries; an event that goes to many endpoints is presented once. */
export function createBodyMaker({ present, isUnavailable, onUnpresentable }: BodyMakerDeps): MakeBodies {
  /** One that fails must not hold up its neighbours, so after a failure each is tried by itself. */
  async function presentEach(tenantId: string, events: readonly LoggedEvent[]): Promise<EventBody[]> {
    try {
      return await present(tenantId, events);
    } catch (error) {
      if (isUnavailable(error)) throw error;
      const [event] = events;
      if (event === undefined || events.length > 1)
        return (await Promise.all(events.map((one) => presentEach(tenantId, [one])))).flat();
      onUnpresentable(event, error);
      return [];
    }
  }

  return async (due) => {
    const byTenant = new Map<string, Map<bigint, LoggedEvent>>();
    for (const { tenantId, event } of due) {
      const events = byTenant.get(tenantId) ?? new Map();
      byTenant.set(tenantId, events.set(event.sequence, event));
    }
    const presented = new Map<string, ReturnType<typeof bodyAround>>();
    await Promise.all(
      [...byTenant].map(async ([tenantId, events]) => {
        for (const body of await presentEach(tenantId, [...events.values()]))
          presented.set(`${tenantId} ${body.sequence}`, bodyAround(body));
      }),
    );
    const bodies = new Map<string, string>();
    for (const { tenantId, event, id } of due) {
      const around = presented.get(`${tenantId} ${event.sequence}`);
      if (around !== undefined) bodies.set(id, around(showId("dlv", id)));
    }
    return bodies;
  };
}

/** Deliveries of one event differ in their id alone, so the rest is written once. */
function bodyAround({ event, ...rest }: EventBody): (deliveryId: string) => string {
  const before = `{"event":${JSON.stringify(event)},"delivery_id":`;
  const after = `,${JSON.stringify(rest).slice(1)}`;
  return (deliveryId) => before + JSON.stringify(deliveryId) + after;
}
