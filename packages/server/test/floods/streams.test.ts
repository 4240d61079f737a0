import { type ChildProcess, fork } from "node:child_process";
import { randomBytes, randomUUID } from "node:crypto";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createBursar } from "@bursar/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "../harness/database/test-database.js";
import { eventually } from "../harness/eventually.js";
import { type BursarProcess, spawnBursar } from "../harness/service/bursar-process.js";
import { startTestService } from "../harness/service/test-service.js";
import { createTemporaryFolder } from "../harness/temporary-folder.js";

/** The default maximum of streams per client, and the number of clients. */
const socketsPerClient = 100;
const clients = 20;
/** Streams of the first client, which receives many events, that are not read. */
const sleepers = 80;
const publicUrl = "http://bursar.test";
const metricsToken = "flood";
/**
 * Twenty kilobytes for each of 2,000 sockets (measured: 17), the megabyte that may be buffered for each of 80 that are not read, and twice
 * as much again for delayed garbage collection. Measured: 140 MB before, 174 MB with all of them open, 242 to 380 MB at most. What grows
 * is the JavaScript heap (75 to 134 MB used, and what V8 keeps to grow), by the events of large payments that it has not collected yet;
 * memory outside of it stays under 26 MB, because sockets share the bytes of an event.
 */
const memoryGrowthMax = (2000 * 0.02 + 3 * sleepers) * 1024 * 1024;
const timeoutMs = 120_000;

interface Told {
  subscribed: number;
  events: number;
  failed: number;
  endings: Record<string, number>;
}

describe("a flood of streams, some of which are not read", () => {
  let database: TestDatabase;
  let bursar: BursarProcess;
  let crowd: ChildProcess;
  let url: string;
  let tokens: string[];
  const folder = createTemporaryFolder("streams");
  beforeAll(async () => {
    database = await createTestDatabase();
    const masterKey = randomBytes(32);
    const masterKeyFile = join(folder, "master.key");
    writeFileSync(masterKeyFile, masterKey.toString("hex"), { mode: 0o600 });
    const preparing = await startTestService({}, { database, masterKey, publicUrl });
    const made = Array.from({ length: clients }, async () =>
      preparing.token(await preparing.createTenant("1000")),
    );
    tokens = await Promise.all(made);
    await preparing.stop();
    bursar = spawnBursar({
      args: ["serve"],
      env: {
        DATABASE_URL: database.url,
        BURSAR_MASTER_KEY_FILE: masterKeyFile,
        BURSAR_PUBLIC_URL: publicUrl,
        BURSAR_METRICS_TOKEN: metricsToken,
      },
    });
    url = await bursar.ready();
    crowd = fork(new URL("./stream-crowd.mjs", import.meta.url));
  });
  afterAll(async () => {
    crowd.disconnect();
    bursar.child.kill("SIGKILL");
    await bursar.exited;
    await database.drop();
    rmSync(folder, { recursive: true });
  });

  const metrics = async () => {
    const response = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${metricsToken}` } });
    const text = await response.text();
    const read = (name: string) => Number(new RegExp(`^${name} (\\S+)`, "m").exec(text)?.[1]);
    return {
      resident: read("process_resident_memory_bytes"),
      open: read("bursar_stream_open"),
      cut: read("bursar_stream_cut_total"),
    };
  };
  const tell = () =>
    new Promise<Told>((resolve) => {
      crowd.once("message", (told) => resolve(told as Told));
      crowd.send("tell");
    });
  /** The requests of ordinary clients meanwhile; large transactions cause large events. */
  const pay = async (token: string, items: number, metadata: Record<string, string>) => {
    const transactions = Array.from({ length: items }, () => ({
      idempotency_key: randomUUID(),
      reference: "flood",
      asset: "USD",
      amount: "0.01",
      metadata,
    }));
    const client = createBursar({ baseUrl: url, credentials: () => token, retriesMax: 0 });
    await client.transactions.createBatch({ transactions });
  };
  const large = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`key${n}`, "x".repeat(512)]));

  it("leaves ordinary requests working and memory bounded, and disconnects clients that do not read", async () => {
    const before = (await metrics()).resident;
    const groups = tokens.map((token, index) => ({
      token,
      readers: socketsPerClient - (index === 0 ? sleepers : 0),
      sleepers: index === 0 ? sleepers : 0,
    }));
    crowd.send({ url, groups });
    const all = socketsPerClient * clients;
    await eventually(tell, ({ subscribed, failed }) => subscribed + failed === all, timeoutMs);
    expect(await metrics()).toMatchObject({ open: all, cut: 0 });

    const [loud = "", ...others] = tokens;
    let most = 0;
    let paid = 0;
    // The operating system buffers some megabytes for each socket before the process does.
    for (let cut = 0; cut < sleepers; ) {
      await pay(loud, 50, large);
      paid += 50;
      const now = await metrics();
      most = Math.max(most, now.resident);
      cut = now.cut;
      const assets = await fetch(`${url}/v1/assets`, { headers: { authorization: `Bearer ${loud}` } });
      expect([assets.status, (await fetch(`${url}/readyz`)).status]).toEqual([200, 200]);
      expect(paid).toBeLessThan(10_000);
    }
    for (const token of others) await pay(token, 1, {});
    const events = paid * (socketsPerClient - sleepers) + others.length * socketsPerClient;
    await eventually(tell, (told) => told.events >= events, timeoutMs);
    expect(await metrics()).toMatchObject({ open: all - sleepers, cut: sleepers });
    expect(most - before).toBeLessThan(memoryGrowthMax);
    // Clients that read again see the close frame, and no others were disconnected.
    crowd.send("wake");
    const { endings } = await eventually(tell, ({ endings }) => Object.keys(endings).length > 0);
    expect(Object.keys(endings).filter((code) => !["1013", "1006"].includes(code))).toEqual([]);
  }, 300_000);
});
