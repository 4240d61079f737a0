import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import type { DatabaseIdentity } from "../../../runtime/database/database-identity.js";
import type { OpenNotifyChannel } from "../../../runtime/loops/wake-ups.js";
import { readServer, toReading } from "../identity/read-server.js";
import { createConnector } from "./connector.js";

const channelName = "bursar";
const reconnectAfterMs = 1000;
const connectTimeoutMs = 5000;
const identityEveryMs = 50;
/** A connection that waits for notifications and hangs looks like one that has none, so it is asked now and then. */
const pings = { everyMs: 10_000, timeoutMs: 5000 };

/**
 * Notifies other processes by LISTEN and NOTIFY, on a connection of its own. NOTIFY in a transaction that writes takes a lock on the whole
 * database at its commit; here it is a transaction by itself, and nothing waits for it. If the URL names several servers, the channel is on
 * the one that the pool uses.
 */
export function createNotifyChannelOpener(
  url: string,
  identity: Pick<DatabaseIdentity, "server" | "subscribe">,
  { everyMs, timeoutMs } = pings,
): OpenNotifyChannel {
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
        query_timeout: timeoutMs,
        keepAlive: true,
      });
      let pinging: NodeJS.Timeout | undefined;
      const lost = new Promise<void>((resolve) => next.once("end", resolve).on("error", () => resolve()));
      try {
        await next.connect();
        await assertServerOfPool(next);
        next.on("notification", ({ payload }) => onNotification(payload ?? ""));
        await next.query(`LISTEN ${channelName}`);
        client = next;
        onOpen();
        pinging = setInterval(() => next.query("SELECT 1").catch(() => drop(next)), everyMs).unref();
        await Promise.race([lost, stopping]);
      } finally {
        clearInterval(pinging);
        client = undefined;
        await next.end().catch(() => undefined);
      }
    }

    async function assertServerOfPool(next: pg.Client): Promise<void> {
      if (connector.serverCount === 1) return await connector.assertTakesWrites(next);
      while (identity.server() === undefined && !stopped.signal.aborted) await sleep(identityEveryMs);
      const found = toReading(await readServer(async (text) => (await next.query(text)).rows));
      if (found.server === identity.server()) return;
      connector.passOver(next);
      throw new Error("the pool uses another server");
    }

    async function run(): Promise<void> {
      while (!stopped.signal.aborted) {
        await connect().catch(() => undefined);
        await sleep(reconnectAfterMs, undefined, { signal: stopped.signal }).catch(() => undefined);
      }
    }

    const running = run();
    // The connection may be to a server that was replaced and does not know it.
    const unsubscribe = identity.subscribe(() => drop(client));
    return {
      notify: async (payload) => {
        const used = client;
        await used?.query("SELECT pg_notify($1, $2)", [channelName, payload]).catch((error: unknown) => {
          drop(used);
          throw error;
        });
      },
      isOpen: () => client !== undefined,
      close: async () => {
        unsubscribe();
        stopped.abort();
        await running;
      },
    };
  };
}

/** What the types of the driver do not show. */
interface DriverClient {
  connection: { stream: Socket };
}

/** Without waiting for the server, which may be gone. */
function drop(client: pg.Client | undefined): void {
  (client as unknown as DriverClient | undefined)?.connection.stream.destroy();
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
