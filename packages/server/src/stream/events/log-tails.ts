import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import pLimit from "p-limit";
import type { EventPositions } from "../../app/events/event.js";
import type { ListEvents } from "../../app/events/present-events.js";
import type { WakeUps } from "../../runtime/loops/wake-ups.js";
import { type EventBatch, makeBatch, splitBatch } from "./event-batch.js";

/** The end of one tenant's log, as it grows. */
export interface LogTail {
  /** The last sequence that has been handed out. */
  position: () => number;
  /** Everything after a sequence up to the position, if it is still in memory; undefined if it has to be read. */
  recentAfter: (sequence: number) => readonly EventBatch[] | undefined;
  /** Hands over every batch after the position, in order and without a gap. Returns a function that stops it. */
  follow: (follower: (batch: EventBatch) => void) => () => void;
  /** Reads on, to what is committed now. */
  refresh: () => Promise<void>;
  release: () => void;
}

/** The one reader of the log in this process: it follows each tenant that has subscribers, once. */
export interface LogTails {
  /** The caller releases the tail when it no longer needs it. */
  open: (tenantId: string) => Promise<LogTail>;
  /** Drops all positions, because the database may have gone back to an earlier state. The streams that use them must be closed. */
  reset: () => void;
  close: () => void;
}

export interface LogTailsDeps {
  listEvents: ListEvents;
  events: Pick<EventPositions, "readHeads">;
  wakeUps: Pick<WakeUps, "subscribe">;
  onError: (error: unknown) => void;
}

interface Tail {
  tenantId: string;
  position: number;
  recent: EventBatch[];
  recentBytes: number;
  followers: Set<(batch: EventBatch) => void>;
  users: number;
  /** Resolves when the position is known. */
  started: Promise<void>;
  isStale: boolean;
  reading: Promise<void> | undefined;
}

const pageMax = 200;
const readsAtOnceMax = 4;
/** Wake-ups can be lost; an event is then this late. */
const lookEveryMs = 1000;
/** How much of a log's end is kept for new subscribers. It is less than may wait for a slow reader before its stream is closed. */
const recentBytesMax = 262_144;
/** What is handed to a socket at once; a reader that keeps up has taken it before the next piece. */
export const pieceBytesMax = 131_072;
/**
 * Writing to a socket costs some 15 µs, whatever the size. A busy engine commits every 5 ms; writing to a thousand sockets
 * each time would take three times as long. So a reader with many followers lets events gather.
 */
const lingerMsPerFollower = 0.05;
const lingerMsMax = 50;

export function createLogTails({ listEvents, events, wakeUps, onError }: LogTailsDeps): LogTails {
  const tails = new Map<string, Tail>();
  const limitReads = pLimit(readsAtOnceMax);

  /** Reads on; a reading that is under way reads once more when it is done. */
  function wake(tail: Tail): Promise<void> {
    tail.isStale = true;
    tail.reading ??= read(tail);
    return tail.reading;
  }

  async function read(tail: Tail): Promise<void> {
    try {
      await tail.started;
      while (tail.isStale && tail.users > 0 && tails.get(tail.tenantId) === tail) {
        tail.isStale = false;
        const page = await limitReads(() => listEvents(tail.tenantId, tail.position, pageMax));
        const batch = makeBatch(page);
        if (batch === undefined) continue;
        if (page.length === pageMax || batch.events.length < page.length) tail.isStale = true;
        await handOut(tail, batch);
      }
    } finally {
      // In the same turn as the last look at `isStale`, so that a wake-up after that look begins another reading.
      tail.reading = undefined;
    }
  }

  async function handOut(tail: Tail, batch: EventBatch): Promise<void> {
    for (const piece of splitBatch(batch, pieceBytesMax)) {
      remember(tail, piece);
      for (const follower of tail.followers) follower(piece);
      const lingerMs = Math.min(lingerMsMax, Math.floor(tail.followers.size * lingerMsPerFollower));
      await (lingerMs > 0 ? sleep(lingerMs) : nextTurn());
    }
  }

  async function lookAtAll(): Promise<void> {
    if (tails.size === 0) return;
    const heads = await events.readHeads([...tails.keys()]);
    const behind = [...tails.values()].filter(
      ({ tenantId, position }) => (heads.get(tenantId) ?? 0) > position,
    );
    await Promise.all(behind.map(wake));
  }

  async function start(tail: Tail): Promise<void> {
    const heads = await events.readHeads([tail.tenantId]);
    tail.position = heads.get(tail.tenantId) ?? 0;
  }

  function begin(tenantId: string): Tail {
    const tail: Tail = {
      tenantId,
      position: 0,
      recent: [],
      recentBytes: 0,
      followers: new Set(),
      users: 0,
      started: Promise.resolve(),
      isStale: false,
      reading: undefined,
    };
    tail.started = start(tail);
    tails.set(tenantId, tail);
    return tail;
  }

  function leave(tail: Tail): void {
    tail.users -= 1;
    if (tail.users === 0 && tails.get(tail.tenantId) === tail) tails.delete(tail.tenantId);
  }

  const unsubscribe = wakeUps.subscribe("events", (tenantIds) => {
    if (tenantIds === "any") lookAtAll().catch(onError);
    else for (const tail of tenantIds.flatMap((id) => tails.get(id) ?? [])) wake(tail).catch(onError);
  });
  const timer = setInterval(() => lookAtAll().catch(onError), lookEveryMs).unref();

  return {
    open: async (tenantId) => {
      const tail = tails.get(tenantId) ?? begin(tenantId);
      tail.users += 1;
      try {
        await tail.started;
      } catch (error) {
        leave(tail);
        throw error;
      }
      return present(
        tail,
        () => wake(tail),
        () => leave(tail),
      );
    },
    reset: () => {
      for (const tail of tails.values()) tail.followers.clear();
      tails.clear();
    },
    close: () => {
      unsubscribe();
      clearInterval(timer);
    },
  };
}

function present(tail: Tail, refresh: () => Promise<void>, leave: () => void): LogTail {
  let isReleased = false;
  return {
    position: () => tail.position,
    recentAfter: (sequence) => recentAfter(tail, sequence),
    follow: (follower) => {
      tail.followers.add(follower);
      return () => tail.followers.delete(follower);
    },
    refresh,
    release: () => {
      if (!isReleased) leave();
      isReleased = true;
    },
  };
}

function remember(tail: Tail, batch: EventBatch): void {
  // After a gap the batches before it are of no use.
  if (batch.first !== tail.position + 1) {
    tail.recent = [];
    tail.recentBytes = 0;
  }
  tail.position = batch.last;
  tail.recent.push(batch);
  tail.recentBytes += batch.all.length;
  while (tail.recentBytes > recentBytesMax && tail.recent.length > 1) {
    tail.recentBytes -= tail.recent.shift()?.all.length ?? 0;
  }
}

function recentAfter({ recent, position }: Tail, sequence: number): readonly EventBatch[] | undefined {
  if (sequence >= position) return [];
  const first = recent[0]?.first;
  if (first === undefined || first > sequence + 1) return undefined;
  return recent.filter(({ last }) => last > sequence);
}
