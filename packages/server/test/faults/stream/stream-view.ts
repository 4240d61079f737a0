import { setTimeout as sleep } from "node:timers/promises";
import type { Event } from "@bursar/protocol";
import { WebSocket } from "ws";
import { createLocalBook } from "../../harness/markets/local-book.js";
import type { TestClient } from "../../harness/service/test-service.js";
import { market } from "../mixed-load.js";
import type { TwoProcesses } from "../two-processes.js";

/** What a client of one process knows from the stream alone: the log of a tenant and the order book. */
export interface StreamView {
  /** The log as the client has it, a line for each event. */
  log: () => string[];
  book: () => ReturnType<typeof createLocalBook>;
  /** What a client cannot make sense of. */
  faults: string[];
  /** How often the client had to drop everything. */
  restarts: () => number;
  stop: () => Promise<void>;
}

/** A connection that is silent for longer than the heartbeats allow counts as lost. */
const silenceMs = 40_000;
const reconnectMs = 100;
const epochChanged = 4010;

/** One line for an event, with what the database must have of it. */
export function lineOf({ sequence, event, data }: Pick<Event, "sequence" | "event" | "data">): string {
  const [subject] = Object.values(data) as { id?: string; version?: number; state?: string }[];
  return `${sequence} ${event} ${subject?.id} ${subject?.version} ${subject?.state}`;
}

/**
 * Follows the stream of one process as the guide tells: it resumes where it was, and in another epoch, or if its sequence is ahead of the
 * log, it drops what it has and begins again.
 */
export function viewStream(url: string, client: TestClient, tokenOf: TwoProcesses["tokenOf"]): StreamView {
  let log: { sequence: number; line: string }[] = [];
  let book = createLocalBook();
  let epoch: string | undefined;
  let restarts = 0;
  let isStopped = false;
  let current: WebSocket | undefined;
  const faults: string[] = [];

  function startOver(): void {
    faults.push(...book.faults);
    log = [];
    book = createLocalBook();
    restarts += 1;
  }

  function takeEvent(event: Event): void {
    const expected = (log.at(-1)?.sequence ?? 0) + 1;
    if (event.sequence !== expected) faults.push(`event ${event.sequence} came instead of ${expected}`);
    log.push({ sequence: event.sequence, line: lineOf(event) });
  }

  function subscribe(ws: WebSocket): void {
    const since = book.sequence();
    ws.send(JSON.stringify({ type: "subscribe", channel: "events", since: log.at(-1)?.sequence ?? 0 }));
    ws.send(
      JSON.stringify({
        type: "subscribe",
        channel: `orderbook:${market}`,
        ...(since === undefined ? {} : { since }),
      }),
    );
  }

  function take(ws: WebSocket, message: { type: string; [field: string]: unknown }): void {
    if (message.type === "hello") {
      const now = message["epoch"] as string | undefined;
      if (epoch !== undefined && epoch !== now) startOver();
      epoch = now;
      subscribe(ws);
    } else if (message.type === "event") takeEvent(message["event"] as Event);
    else if (message.type === "snapshot" || message.type === "delta") book.take(message as never);
    else if (message.type === "error") {
      const { code } = message["error"] as { code: string };
      if (code === "SEQUENCE_AHEAD") startOver();
      else if (code !== "UNAVAILABLE") faults.push(JSON.stringify(message));
      ws.close();
    }
  }

  async function follow(): Promise<void> {
    const token = await tokenOf(client);
    const ws = new WebSocket(`${url.replace(/^http/, "ws")}/v1/stream`, "bursar.v1.json", {
      headers: { authorization: `Bearer ${token}` },
      handshakeTimeout: silenceMs,
    });
    current = ws;
    await new Promise<void>((resolve) => {
      const watchdog = setTimeout(() => ws.terminate(), silenceMs);
      ws.on("message", (data) => {
        watchdog.refresh();
        take(ws, JSON.parse(String(data)));
      });
      ws.on("error", () => undefined);
      ws.on("close", (code) => {
        clearTimeout(watchdog);
        if (code === epochChanged) {
          startOver();
          epoch = undefined;
        }
        resolve();
      });
    });
  }

  const following = (async () => {
    while (!isStopped) {
      await follow();
      await sleep(reconnectMs);
    }
  })();
  return {
    log: () => log.map(({ line }) => line),
    book: () => book,
    faults,
    restarts: () => restarts,
    stop: async () => {
      isStopped = true;
      current?.terminate();
      await following;
      faults.push(...book.faults);
    },
  };
}
