import type { Connection } from "./connection.js";
import type { StreamDeps } from "./stream-deps.js";
import { textFrame } from "./text-frames.js";

/** The timers of all streams. */
export interface Pulse {
  add: (connection: Connection) => void;
  remove: (connection: Connection) => void;
  stop: () => void;
}

/** Streams beat in turns, so that thousands of them never beat in the same moment: a turn is a second, by default. */
const turns = 25;
/** What is known of a client is 2 s old at most when it is asked for every second; with this a revoked token ends within 5 s. */
const reviewEveryMs = 1000;

export function createPulse({ limits, log, now }: Pick<StreamDeps, "limits" | "log" | "now">): Pulse {
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

  /** One after the other: where clients have to be asked for, the database is asked for one at a time. */
  async function reviewAll(): Promise<void> {
    if (isReviewing) return;
    isReviewing = true;
    let failures = 0;
    for (const connection of slotOf.keys()) {
      try {
        const review = connection.review();
        if (review !== undefined) await review;
      } catch (error) {
        // Without the database nothing new is told either; the streams wait for it. The others are looked at all the same.
        if (failures++ === 0) log.warn({ err: error }, "a stream could not be reviewed");
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
