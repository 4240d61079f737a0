import { join } from "node:path";
import {
  createPostgresStore,
  createReceiver,
  createSqliteStore,
  openJournalStore,
  type ReceiverStore,
  type SqliteHandle,
  type SqlTransaction,
  type StoredDelivery,
} from "@bursar/client/webhooks";
import Database from "libsql";
import pg from "pg";
import { describe, expect, it } from "vitest";
import { createTestDatabase } from "../../harness/database/test-database.js";
import { eventually } from "../../harness/eventually.js";
import { createTemporaryFolder } from "../../harness/temporary-folder.js";

interface OpenStore {
  store: ReceiverStore<unknown>;
  close: () => Promise<void>;
}

const newPath = (name: string) => join(createTemporaryFolder("receiver-stores"), name);

async function openPostgres() {
  const database = await createTestDatabase("empty");
  const pool = new pg.Pool({ connectionString: database.url, max: 2 });
  const store = createPostgresStore(pool);
  await store.prepare();
  await pool.query("CREATE TABLE booked (delivery_id text)");
  return {
    store,
    pool,
    databaseUrl: database.url,
    booked: async () => (await pool.query("SELECT * FROM booked")).rows.length,
    book: (sql: SqlTransaction) => sql.query("INSERT INTO booked VALUES ('dlv_1')"),
    close: async () => {
      await pool.end();
      await database.drop();
    },
  };
}

async function openSqlite() {
  const database = new Database(newPath("receiver.db"));
  const store = createSqliteStore(database);
  await store.prepare();
  database.exec("CREATE TABLE booked (delivery_id text)");
  return {
    store,
    booked: async () => database.prepare("SELECT * FROM booked").all().length,
    book: (handle: SqliteHandle) => handle.prepare("INSERT INTO booked VALUES ('dlv_1')").run(),
    close: async () => {
      database.close();
    },
  };
}

async function openJournal() {
  const store = await openJournalStore(newPath("journal.jsonl"));
  return { store, close: store.close };
}

const stores: [name: string, open: () => Promise<OpenStore>][] = [
  ["PostgreSQL", openPostgres as () => Promise<OpenStore>],
  ["SQLite", openSqlite as unknown as () => Promise<OpenStore>],
  ["the journal", openJournal as () => Promise<OpenStore>],
];

function deliveryOf(sequence: number, given: Partial<StoredDelivery> = {}): StoredDelivery {
  return {
    id: `dlv_${sequence}`,
    eventKey: `key-${sequence}`,
    epoch: "epo_1",
    sequence,
    subject: `tx_${sequence}`,
    version: 2,
    body: `{"sequence":${sequence}}`,
    ...given,
  };
}

describe.each(stores)("a receiver's store in %s", (_name, open) => {
  it("knows a delivery by its id and by its event", async () => {
    const { store, close } = await open();
    expect(await store.save(deliveryOf(1), "pending", 0)).toBe("saved");
    expect(await store.save(deliveryOf(1, { eventKey: "other" }), "pending", 0)).toBe("known");
    expect(await store.save(deliveryOf(1, { id: "dlv_resent" }), "pending", 0)).toBe("known");
    expect(await store.due(0, 10)).toEqual([{ ...deliveryOf(1), attempts: 0 }]);
    await close();
  });

  it("processes once, drops versions that are not newer, and treats another epoch as another history", async () => {
    const { store, close } = await open();
    const handled: string[] = [];
    const work = ({ id }: { id: string }) => void handled.push(id);
    const subject = "tx_1";
    const given = [
      deliveryOf(1, { subject, version: 2 }),
      deliveryOf(2, { subject, version: 1 }),
      deliveryOf(3, { subject, version: 1, epoch: "epo_2" }),
      deliveryOf(4, { subject: null, version: null }),
    ];
    for (const delivery of given) await store.save(delivery, "pending", 0);
    const results = [];
    for (const { id } of [...given, ...given]) results.push(await store.process(id, work));
    expect(results).toEqual([
      ...["processed", "stale", "processed", "processed"],
      ...["settled", "settled", "settled", "settled"],
    ]);
    expect(handled).toEqual(["dlv_1", "dlv_3", "dlv_4"]);
    await close();
  });

  it("keeps failures until they are due, parks and lists them, and gives them back", async () => {
    const { store, close } = await open();
    for (const sequence of [2, 1]) await store.save(deliveryOf(sequence), "pending", 0);
    await store.fail("dlv_1", "first", 1000);
    expect((await store.due(999, 10)).map(({ id }) => id)).toEqual(["dlv_2"]);
    expect(await store.due(1000, 10)).toMatchObject([{ id: "dlv_1", attempts: 1 }, { id: "dlv_2" }]);
    for (const id of ["dlv_1", "dlv_2"]) await store.fail(id, `${id} failed`, undefined);
    expect(await store.due(5000, 10)).toEqual([]);
    expect(await store.parked(10)).toMatchObject([
      { id: "dlv_1", attempts: 2, error: "dlv_1 failed", body: '{"sequence":1}' },
      { id: "dlv_2", attempts: 1, error: "dlv_2 failed" },
    ]);
    expect(await store.parked(1)).toHaveLength(1);
    expect(await store.retry("dlv_1", 5000)).toBe(true);
    expect(await store.retry("dlv_1", 5000)).toBe(false);
    expect(await store.retry("dlv_unknown", 5000)).toBe(false);
    expect(await store.due(5000, 10)).toMatchObject([{ id: "dlv_1", attempts: 0 }]);
    expect((await store.parked(10)).map(({ id }) => id)).toEqual(["dlv_2"]);
    await close();
  });

  it("knows the sequences of an epoch and the latest one", async () => {
    const { store, close } = await open();
    expect(await store.latestEpoch()).toBeUndefined();
    for (const sequence of [5, 3]) await store.save(deliveryOf(sequence), "skipped", 0);
    await store.save(deliveryOf(4, { epoch: "epo_2" }), "pending", 1);
    expect(await store.sequences("epo_1", 0, 10)).toEqual([3, 5]);
    expect(await store.sequences("epo_1", 3, 10)).toEqual([5]);
    expect(await store.sequences("epo_1", 0, 1)).toEqual([3]);
    expect(await store.latestEpoch()).toBe("epo_2");
    await close();
  });

  it("knows up to where nothing is missing, which never goes back", async () => {
    const { store, close } = await open();
    expect(await store.knownTo("epo_1")).toBeUndefined();
    for (const sequence of [7, 9, 8]) await store.raiseKnownTo("epo_1", sequence);
    expect(await store.knownTo("epo_1")).toBe(9);
    expect(await store.knownTo("epo_2")).toBeUndefined();
    expect(await store.latestEpoch()).toBe("epo_1");
    await close();
  });
});

describe.each([
  ["PostgreSQL", openPostgres],
  ["SQLite", openSqlite],
] as const)("a receiver's store in %s", (_name, open) => {
  it("commits what the handler writes with the mark, or neither", async () => {
    const opened = await open();
    const store = opened.store as ReceiverStore<unknown>;
    const book = opened.book as (context: unknown) => unknown;
    await store.save(deliveryOf(1), "pending", 0);
    const failing = (_delivery: unknown, context: unknown) => {
      const booked = book(context);
      const fail = () => {
        throw new Error("the handler has failed");
      };
      return booked instanceof Promise ? booked.then(fail) : fail();
    };
    await expect(store.process("dlv_1", failing)).rejects.toThrow("has failed");
    expect(await opened.booked()).toBe(0);
    const working = (_delivery: unknown, context: unknown) => {
      const booked = book(context);
      return booked instanceof Promise ? booked.then(() => undefined) : undefined;
    };
    expect(await store.process("dlv_1", working)).toBe("processed");
    expect(await store.process("dlv_1", working)).toBe("settled");
    expect(await opened.booked()).toBe(1);
    await opened.close();
  });

  it("forgets what is done and old, in parts, and still recognises its versions", async () => {
    const { store, close } = await open();
    const delivery = (sequence: number) => deliveryOf(sequence, { subject: "tx_1", version: sequence });
    for (const sequence of [1, 2, 3]) await store.save(delivery(sequence), "pending", sequence);
    await store.save(deliveryOf(4), "skipped", 4);
    await store.save(deliveryOf(5), "skipped", 1000);
    for (const id of ["dlv_1", "dlv_2"]) await store.process(id, () => undefined);
    // What is pending stays, as old as it is.
    expect(await store.prune?.(1000, 2)).toBe(2);
    expect(await store.prune?.(1000, 2)).toBe(1);
    expect(await store.prune?.(1000, 2)).toBe(0);
    expect(await store.sequences("epo_1", 0, 10)).toEqual([3, 5]);
    // What was forgotten is not missing.
    expect(await store.knownTo("epo_1")).toBe(4);
    await store.save(delivery(2), "pending", 2000);
    expect(await store.process("dlv_2", () => undefined)).toBe("stale");
    await close();
  });

  it("is pruned by a receiver that runs", async () => {
    const { store, close } = await open();
    await store.save(deliveryOf(1), "skipped", 0);
    await store.save(deliveryOf(2), "skipped", Date.now());
    const receiver = createReceiver<unknown>({
      secrets: [`whsec_${Buffer.alloc(32, 7).toString("base64")}`],
      store: store as ReceiverStore<unknown>,
      handle: () => {},
    });
    await receiver.start()();
    expect(await store.sequences("epo_1", 0, 10)).toEqual([2]);
    await close();
  });
});

describe("a receiver's store in PostgreSQL", () => {
  it("survives that its connections are ended, idle or in a handler, and processes what it had begun", async () => {
    const { store, booked, book, close, pool, databaseUrl } = await openPostgres();
    const admin = new pg.Client({ connectionString: databaseUrl });
    await admin.connect();
    const endOthers = () =>
      admin.query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
      );
    await store.save(deliveryOf(1), "pending", 0);
    await endOthers();
    await eventually(
      async () => pool.totalCount,
      (count) => count === 0,
    );
    const endingInside = async (_delivery: unknown, sql: SqlTransaction) => {
      await book(sql);
      await endOthers();
      await new Promise((resolve) => setImmediate(resolve));
      await sql.query("SELECT 1");
    };
    await expect(store.process("dlv_1", endingInside)).rejects.toThrow();
    expect(await booked()).toBe(0);
    const result = await store.process("dlv_1", async (_delivery, sql) => void (await book(sql)));
    expect(result).toBe("processed");
    expect(await booked()).toBe(1);
    await admin.end();
    await close();
  });
});

describe("a receiver's store in SQLite", () => {
  it("refuses a handler that is async, at the start or at its first promise", async () => {
    const { store, booked, book, close } = await openSqlite();
    const options = { secrets: [`whsec_${Buffer.alloc(32, 7).toString("base64")}`], store };
    expect(() => createReceiver<SqliteHandle>({ ...options, handle: async () => {} })).toThrow(
      /must not be async/,
    );
    await store.save(deliveryOf(1), "pending", 0);
    const work = (_delivery: unknown, handle: SqliteHandle) => {
      book(handle);
      return Promise.reject(new Error("too late"));
    };
    await expect(store.process("dlv_1", work)).rejects.toThrow(/returned a promise/);
    expect(await booked()).toBe(0);
    expect(await store.due(0, 10)).toHaveLength(1);
    await close();
  });
});
