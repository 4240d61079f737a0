// node receiver-process.mjs <options as JSON>: a receiver of webhooks as a process of its own. It prints its port. If a point is given, it is
// killed there, as if somebody had pulled the plug, when it comes by for the given time. GET processes what is due, and returns how much
// that was.
import { appendFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import {
  createPostgresStore,
  createReceiver,
  createSqliteStore,
  openJournalStore,
  toNodeHandler,
} from "@bursar/client/webhooks";

/**
 * @typedef {import("@bursar/client/webhooks").EventNotification} EventNotification
 * @typedef {import("@bursar/client/webhooks").ReceiverStore<any>} Store
 * @typedef {{ store: Store, handle: (notification: EventNotification, context: any) => Promise<void> | void }} Parts
 * @typedef {{ kind: "postgres" | "sqlite" | "journal", place: string, secret: string, point?: string, visit?: number }} Options
 */

/** @type {Options} */
const { kind, place, secret, point, visit = 1 } = JSON.parse(process.argv[2] ?? "");
let visits = 0;

/** @param {string} name */
function pass(name) {
  if (name !== point) return;
  visits += 1;
  if (visits === visit) process.kill(process.pid, "SIGKILL");
}

/** @type {Record<Options["kind"], () => Promise<Parts>>} */
const kinds = {
  postgres: async () => {
    const { default: pg } = await import("pg");
    const pool = new pg.Pool({ connectionString: place, max: 4 });
    const store = createPostgresStore({
      connect: async () => {
        const connection = await pool.connect();
        return {
          query: async (text, values) => {
            if (text === "COMMIT") pass("committing");
            const result = await connection.query(text, values);
            if (text === "COMMIT") pass("committed");
            return result;
          },
          release: (error) => connection.release(error),
        };
      },
    });
    return {
      store,
      handle: async ({ sequence }, sql) => {
        pass("claimed");
        await sql.query("INSERT INTO booked VALUES ($1)", [sequence]);
        pass("handled");
      },
    };
  },
  sqlite: async () => {
    const { default: Database } = await import("libsql");
    const database = new Database(place);
    const store = createSqliteStore({
      prepare: (sql) => database.prepare(sql),
      exec: (sql) => {
        if (sql === "COMMIT") pass("committing");
        database.exec(sql);
        if (sql === "COMMIT") pass("committed");
      },
    });
    await store.prepare();
    return {
      store,
      handle: ({ sequence }, handle) => {
        pass("claimed");
        handle.prepare("INSERT INTO booked VALUES (?)").run(sequence);
        pass("handled");
      },
    };
  },
  journal: async () => ({
    store: await openJournalStore(join(place, "journal.jsonl"), { compactAfterLines: 200 }),
    handle: ({ delivery_id, sequence }) => {
      pass("claimed");
      appendFileSync(join(place, "calls"), `${process.pid} ${sequence}\n`);
      try {
        // A file that can be made once, under the id of the delivery: a handler that bears to be called twice.
        writeFileSync(join(place, "booked", delivery_id), `${sequence}`, { flag: "wx" });
      } catch (error) {
        if (/** @type {NodeJS.ErrnoException} */ (error).code !== "EEXIST") throw error;
      }
      pass("handled");
    },
  }),
};

const { store, handle } = await kinds[kind]();
const receiver = createReceiver({
  secrets: [secret],
  store: {
    ...store,
    save: async (...args) => {
      pass("verified");
      const result = await store.save(...args);
      pass("persisted");
      return result;
    },
    process: async (...args) => {
      const result = await store.process(...args);
      if (result === "processed") pass("marked");
      return result;
    },
  },
  handle,
  pollMs: 100,
  onError: (error) => {
    const { reason } = /** @type {{ reason?: string }} */ (error);
    if (reason === undefined) process.stderr.write(`${error}\n`);
  },
});
receiver.start();
const handler = toNodeHandler(receiver);
const server = createServer((request, response) => {
  if (request.method === "GET") {
    receiver.processDue().then(
      (count) => response.end(String(count)),
      (error) => response.writeHead(500).end(String(error)),
    );
    return;
  }
  pass("received");
  response.once("finish", () => pass("answered"));
  handler(request, response);
});
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  if (typeof address === "object") process.stdout.write(`${address?.port}\n`);
});
