import { randomInt } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { WebSocket } from "ws";

/** A client that follows the events across disconnects, and records everything that it receives. */
export interface StreamFollower {
  /** Every sequence, in order of arrival. */
  seen: number[];
  /** The number of connections. */
  connections: () => number;
  /** Unexpected messages. */
  faults: string[];
  stop: () => Promise<void>;
}

/** A connection without messages for this long counts as lost. */
const silenceMs = 1000;
const pauseMaxMs = 20;

export function followStream(url: () => string, token: () => string): StreamFollower {
  const seen: number[] = [];
  const faults: string[] = [];
  let connections = 0;
  let isStopped = false;
  let current: WebSocket | undefined;

  /** Runs one connection until it ends. */
  function follow(): Promise<void> {
    connections += 1;
    const ws = new WebSocket(`${url().replace(/^http/, "ws")}/v1/stream`, "bursar.v1.json", {
      headers: { authorization: `Bearer ${token()}` },
      handshakeTimeout: silenceMs,
    });
    current = ws;
    return new Promise((resolve) => {
      const watchdog = setTimeout(() => ws.terminate(), silenceMs);
      const since = seen.at(-1) ?? 0;
      ws.on("open", () => ws.send(JSON.stringify({ type: "subscribe", channel: "events", since })));
      ws.on("message", (data) => {
        watchdog.refresh();
        const message = JSON.parse(String(data));
        if (message.type === "event") seen.push(message.event.sequence);
        else if (message.type === "error" && message.error.code !== "UNAVAILABLE") faults.push(String(data));
        else if (message.type === "subscribed" && message.recovered !== true) faults.push(String(data));
      });
      ws.on("error", () => undefined);
      ws.on("close", () => {
        clearTimeout(watchdog);
        resolve();
      });
    });
  }

  const following = (async () => {
    while (!isStopped) {
      await follow();
      await sleep(randomInt(pauseMaxMs));
    }
  })();
  return {
    seen,
    connections: () => connections,
    faults,
    stop: async () => {
      isStopped = true;
      current?.terminate();
      await following;
    },
  };
}
