import type { Connection } from "./connection.js";
import type { StreamDeps } from "./stream-deps.js";
import { textFrame } from "./text-frames.js";

/** The timers of all streams: heartbeats, and reviews of their tokens. */
export interface Heartbeats {
  add: (connection: Connection) => void;
  remove: (connection: Connection) => void;
  stop: () => void;
}

/** Heartbeats are sent in turns, so that thousands of streams are never served in the same moment: a turn is a second by default. */
const turns = 25;
/** With a review every second the cached client is at most 2 s old, so that a revoked token ends its streams within 5 s. */
const reviewEveryMs = 1000;

export function createHeartbeats({
  limits,
  log,
  now,
}: Pick<StreamDeps, "limits" | "log" | "now">): Heartbeats {
  const slots = Array.from({ length: turns }, () => new Set<Connection>());
  const slotOf = new Map<Connection, Set<Connection>>();
  let turn = 0;
  let added = 0;
  let isReviewing = false;

  function beat(): void {
    turn = (turn + 1) % turns;
    const heartbeat = textFrame(
      JSON.stringify({ type: "heartbeat", server_time: new Date(now()).toISOString() }),
    );
    for (const connection of slots[turn] ?? []) connection.beat(heartbeat);
  }

  /** One after the other, so that clients which are not cached cost one query at a time. */
  async function reviewAll(): Promise<void> {
    if (isReviewing) return;
    isReviewing = true;
    let failures = 0;
    for (const connection of slotOf.keys()) {
      try {
        const review = connection.review();
        if (review !== undefined) await review;
      } catch (error) {
        // Without the database no events arrive either, so the streams stay open. The others are reviewed all the same.
        if (failures++ === 0)
          log.warn({ err: error }, "The token of a stream could not be checked. It is checked again.");
      }
    }
    isReviewing = false;
  }

  const beating = setInterval(beat, limits.heartbeatMs / turns).unref();
  const reviewing = setInterval(() => void reviewAll(), reviewEveryMs).unref();
  return {
    add: (connection) => {
      const slot = slots[added++ % turns] as Set<Connection>;
      slot.add(connection);
      slotOf.set(connection, slot);
    },
    remove: (connection) => {
      slotOf.get(connection)?.delete(connection);
      slotOf.delete(connection);
    },
    stop: () => {
      clearInterval(beating);
      clearInterval(reviewing);
    },
  };
}
