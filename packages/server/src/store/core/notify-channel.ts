import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import type { OpenNotifyChannel } from "../../runtime/wake-ups.js";
import { createConnector } from "./connector.js";

const channelName = "bursar";
const reconnectAfterMs = 1000;
const connectTimeoutMs = 5000;
const statementTimeoutMs = 5000;

/**
 * Notifies other processes by LISTEN and NOTIFY, on a connection of its own. NOTIFY in a transaction that writes takes a lock on the whole
 * database at its commit; here it is a transaction by itself, and nothing waits for it.
 */
export function createNotifyChannelOpener(url: string): OpenNotifyChannel {
  const connector = createConnector(url);
  return ({ onNotification, onOpen }) => {
    const stopped = new AbortController();
    const stopping = aborted(stopped.signal);
    let client: pg.Client | undefined;

    async function connect(): Promise<void> {
      const next = new connector.Client({
        application_name: "bursar notifications",
        pipeline: true,
        connectionTimeoutMillis: connectTimeoutMs,
        query_timeout: statementTimeoutMs,
        keepAlive: true,
      });
      const lost = new Promise<void>((resolve) => next.once("end", resolve).on("error", () => resolve()));
      try {
        await next.connect();
        await connector.assertTakesWrites(next);
        next.on("notification", ({ payload }) => onNotification(payload ?? ""));
        await next.query(`LISTEN ${channelName}`);
        client = next;
        onOpen();
        await Promise.race([lost, stopping]);
      } finally {
        client = undefined;
        await next.end().catch(() => undefined);
      }
    }

    async function run(): Promise<void> {
      while (!stopped.signal.aborted) {
        await connect().catch(() => undefined);
        await sleep(reconnectAfterMs, undefined, { signal: stopped.signal }).catch(() => undefined);
      }
    }

    const running = run();
    return {
      notify: async (payload) =>
        void (await client?.query("SELECT pg_notify($1, $2)", [channelName, payload])),
      isOpen: () => client !== undefined,
      close: async () => {
        stopped.abort();
        await running;
      },
    };
  };
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
