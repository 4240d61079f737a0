import type { BursarEvent } from "../resources/event-kinds.js";
import type { Transport } from "../transport/transport.js";
import { type FollowOptions, follow, type Gap } from "./follow.js";

export interface FollowEventsOptions extends FollowOptions {
  /** Only events of these kinds. Defaults to all. */
  kinds?: readonly BursarEvent["event"][] | undefined;
}

/** An event, or what is missing. Store `sequence` and `epoch` with what you do, and pass them as `since` and `epoch` the next time. */
export type FollowedEvent = { type: "event"; sequence: number; epoch: string; event: BursarEvent } | Gap;

export function followEvents(transport: Transport) {
  return async function* events(
    options: FollowEventsOptions = {},
  ): AsyncGenerator<FollowedEvent, void, undefined> {
    const { kinds, ...rest } = options;
    const followed = {
      channel: "events",
      filter: kinds === undefined ? {} : { kinds },
      isGapless: kinds === undefined,
      read: ({ type, event }: { type: string; event?: unknown }) =>
        type === "event"
          ? { sequence: (event as BursarEvent).sequence, item: event as BursarEvent }
          : undefined,
    };
    for await (const found of follow(transport, followed, rest))
      yield "type" in found
        ? found
        : { type: "event", sequence: found.sequence, epoch: found.epoch, event: found.item };
  };
}
