import { SubscribeToEvents } from "@bursar/protocol";
import type { EventPositions } from "../../app/events/event.js";
import type { Refused } from "../../app/requests/refused.js";
import type { Channel, Subscriber, Subscription } from "../channel.js";
import type { History } from "./history.js";
import type { LogTail, LogTails } from "./log-tails.js";
import { pumpEvents } from "./pump-events.js";

export interface EventsChannelDeps {
  tails: LogTails;
  history: History;
  events: Pick<EventPositions, "readOldest">;
}

/** The tenant's event log: from `since` on, or from now on, in order, without a gap and without a repeat. */
export function createEventsChannel(deps: EventsChannelDeps): Channel {
  return {
    name: "events",
    scope: "events:read",
    schema: SubscribeToEvents,
    subscribe: async (
      message: SubscribeToEvents,
      subscriber: Subscriber,
    ): Promise<Subscription | Refused> => {
      const tail = await deps.tails.open(subscriber.tenantId);
      try {
        const answer = await findStart(message.since, tail, subscriber.tenantId, deps);
        if ("refused" in answer) tail.release();
        else
          return {
            answer,
            ...pumpEvents({ tail, history: deps.history, message, subscriber, from: answer.sequence }),
          };
        return answer;
      } catch (error) {
        tail.release();
        throw error;
      }
    },
  };
}

/** Finds where a subscription begins. If the log no longer has `since`, there is no partial replay: it begins at the end and says so. */
async function findStart(
  since: number | undefined,
  tail: LogTail,
  tenantId: string,
  { events }: EventsChannelDeps,
): Promise<Subscription["answer"] | Refused> {
  if (since === undefined) return { recovered: true, sequence: tail.position() };
  // Another process may have sent the client events that this one has not read yet.
  if (since > tail.position()) await tail.refresh();
  if (since > tail.position())
    return { refused: "SEQUENCE_AHEAD", message: `The last sequence of the log is ${tail.position()}.` };
  if (tail.recentAfter(since) !== undefined) return { recovered: true, sequence: since };
  const position = tail.position();
  const oldest = (await events.readOldest(tenantId)) ?? position + 1;
  if (since + 1 >= oldest) return { recovered: true, sequence: since };
  return { recovered: false, sequence: tail.position(), oldest_sequence: oldest };
}
