import { setTimeout as sleep } from "node:timers/promises";
import { SubscribeToEvents } from "@bursar/protocol";
import type { EventPositions } from "../../app/events/event.js";
import { refuseAhead, refuseLost } from "../../app/events/read-event-page.js";
import type { Refused } from "../../app/requests/refused.js";
import type { BoundedGate } from "../../runtime/concurrency/bounded-gate.js";
import type { Channel, Subscriber, Subscription } from "../channel.js";
import { type EventBatch, splitBatch } from "./event-batch.js";
import type { History } from "./history.js";
import { type LogTail, type LogTails, pieceBytesMax } from "./log-tails.js";

export interface EventsChannelDeps {
  tails: LogTails;
  history: History;
  reads: BoundedGate;
  events: Pick<EventPositions, "readOldest" | "findLost" | "findLostAfter">;
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
            ...pumpEvents({ ...deps, tail, message, subscriber, from: answer.sequence }),
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
  { events, reads }: Pick<EventsChannelDeps, "events" | "reads">,
): Promise<Subscription["answer"] | Refused> {
  if (since === undefined) return { recovered: true, sequence: tail.position() };
  // Another process may have sent the client events that this one has not read yet.
  if (since > tail.position()) await tail.refresh();
  if (since > tail.position()) return refuseAhead(tail.position());
  if (tail.recentAfter(since) !== undefined) return { recovered: true, sequence: since };
  const answer = await reads.run(tenantId, () => findInLog(since, tail, tenantId, events));
  return answer === "full" ? { refused: "OVERLOADED" } : answer;
}

async function findInLog(
  since: number,
  tail: LogTail,
  tenantId: string,
  events: EventsChannelDeps["events"],
): Promise<Subscription["answer"] | Refused> {
  const lost = await events.findLost(tenantId, since);
  if (lost !== undefined) return refuseLost(lost);
  const position = tail.position();
  const oldest = (await events.readOldest(tenantId)) ?? position + 1;
  if (since + 1 >= oldest) return { recovered: true, sequence: since };
  return { recovered: false, sequence: tail.position(), oldest_sequence: oldest };
}

interface PumpOptions extends Pick<EventsChannelDeps, "history" | "events"> {
  tail: LogTail;
  message: Pick<SubscribeToEvents, "kinds" | "transaction_ids">;
  subscriber: Subscriber;
  /** The last sequence that the subscriber has. */
  from: number;
}

/** How often history that should exist is asked for again, and the pause between. */
const historyAttemptsMax = 5;
const historyPauseMs = 200;

/**
 * Brings a subscriber from where it is to the end of the log, and then follows that. The history is read page by page, as fast as
 * the subscriber takes it. As soon as the tail has what is left, that is sent and the tail is followed in the same turn of
 * the event loop, so no event is missed; and every batch is compared with the last sequence sent, so no event is sent twice.
 */
function pumpEvents(options: PumpOptions): Pick<Subscription, "start" | "stop"> {
  const { tail, history, events, subscriber } = options;
  const matches = createFilter(options.message);
  let sequence = options.from;
  let isStopped = false;
  let unfollow: (() => void) | undefined;

  /** Returns the number of bytes that were sent. */
  function deliver(batch: EventBatch): number {
    if (isStopped || batch.last <= sequence) return 0;
    if (batch.first > sequence + 1) {
      subscriber.fail(new Error(`the log goes from ${sequence} to ${batch.first}`));
      return 0;
    }
    const isWhole = batch.first === sequence + 1 && matches === undefined;
    const frames = isWhole ? batch.all : choose(batch, sequence, matches);
    sequence = batch.last;
    if (frames.length > 0) subscriber.send(frames);
    return frames.length;
  }

  async function catchUp(): Promise<void> {
    for (let failures = 0; !isStopped; ) {
      const recent = tail.recentAfter(sequence);
      if (recent !== undefined) {
        for (const batch of recent) deliver(batch);
        if (!isStopped) unfollow = tail.follow(deliver);
        return;
      }
      const before = sequence;
      const page = await history.pageAfter(subscriber.tenantId, sequence).catch(() => undefined);
      for (const piece of page === undefined ? [] : splitBatch(page, pieceBytesMax)) {
        if (!(await subscriber.room(deliver(piece)))) return;
      }
      if (sequence === before) {
        const lost = await events.findLostAfter(subscriber.tenantId, sequence).catch(() => undefined);
        sequence = lost?.lifted ?? sequence;
      }
      failures = sequence > before ? 0 : failures + 1;
      if (failures > historyAttemptsMax) throw new Error(`the log cannot be read after ${sequence}`);
      if (failures > 0) await sleep(historyPauseMs);
    }
  }

  return {
    start: () => void catchUp().catch((error: Error) => subscriber.fail(error)),
    stop: () => {
      isStopped = true;
      unfollow?.();
      tail.release();
    },
  };
}

type Filter = (event: EventBatch["events"][number]) => boolean;

function createFilter({ kinds, transaction_ids }: PumpOptions["message"]): Filter | undefined {
  if (kinds === undefined && transaction_ids === undefined) return undefined;
  const wantedKinds = kinds && new Set<string>(kinds);
  const wantedIds = transaction_ids && new Set<string | undefined>(transaction_ids);
  return ({ kind, transactionId }) =>
    (wantedKinds?.has(kind) ?? true) && (wantedIds?.has(transactionId) ?? true);
}

/** The frames of what comes after a sequence and is wanted. */
function choose({ first, events }: EventBatch, after: number, matches: Filter | undefined): Buffer {
  const rest = events.slice(after + 1 - first);
  return Buffer.concat((matches === undefined ? rest : rest.filter(matches)).map(({ frame }) => frame));
}
