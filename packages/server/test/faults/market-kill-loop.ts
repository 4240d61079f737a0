import { randomBytes, randomInt } from "node:crypto";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Bursar, createBursar, type PlaceOrderBody } from "@bursar/client";
import { readId } from "@bursar/protocol";
import { sql } from "../../src/store/core/sql.js";
import { auditLedger } from "../../src/store/ledger/audit-ledger.js";
import { createTestDatabase, type TestDatabase } from "../harness/database/test-database.js";
import { eventually } from "../harness/eventually.js";
import { createRandomDeeds } from "../harness/markets/random-orders.js";
import { type Replay, replayMarket } from "../harness/markets/replay-market.js";
import { createTrader } from "../harness/markets/trader.js";
import { writeMarkets } from "../harness/markets/wide-markets.js";
import { type BursarProcess, spawnBursar } from "../harness/service/bursar-process.js";
import { startTestService } from "../harness/service/test-service.js";
import { createTemporaryFolder } from "../harness/temporary-folder.js";

export interface MarketKillReport {
  kills: number;
  /** The number of times that the market moved to another process. */
  owners: number;
  /** The longest time from a kill to the next executed command. */
  standstillMaxMs: number;
  /** Orders that were answered with 202, and the ones that do not exist. */
  acknowledged: number;
  lost: string[];
  /** The kills after which the book, the trades or the levels did not match the commands. */
  wrong: { kill: number; replay: Replay }[];
  commands: number;
  trades: number;
  violations: object[];
  /** The book in each process at the end. */
  books: string[];
}

const market = "ETH-USD";
const publicUrl = "http://bursar.test";
const traders = 6;
const requestTimeoutMs = 5000;

/** Two processes share a market, and are killed in turn at random times under load. */
export async function runMarketKillLoop(times: number): Promise<MarketKillReport> {
  const folder = createTemporaryFolder("market-kill");
  const database = await createTestDatabase();
  const tokens = await prepare(database, folder);
  const env = {
    DATABASE_URL: database.url,
    BURSAR_MASTER_KEY_FILE: join(folder, "master.key"),
    BURSAR_PUBLIC_URL: publicUrl,
    BURSAR_CONFIG: writeMarkets(folder),
    LOG_LEVEL: "info",
  };
  const start = async () => {
    const child = spawnBursar({ args: ["serve"], env });
    return { child, url: await child.ready() };
  };
  const processes: { child: BursarProcess; url: string }[] = [await start(), await start()];
  const acknowledged = new Set<string>();
  const load = { isOn: true };
  const clients = tokens.map((token) =>
    createBursar({
      baseUrl: publicUrl,
      credentials: () => token,
      retriesMax: 0,
      timeoutMs: requestTimeoutMs,
      // Each request goes to one of the processes.
      fetch: (url, init) => fetch(url.replace(publicUrl, processes[randomInt(2)]?.url ?? ""), init),
    }),
  );
  const sending = clients.map((client, index) =>
    actUntilStopped(createRandomDeeds(index), client, load, acknowledged),
  );

  const wrong: MarketKillReport["wrong"] = [];
  let standstillMaxMs = 0;
  for (let kill = 0; kill < times; kill++) {
    await sleep(randomInt(100, 1200));
    const victim = processes[kill % 2];
    victim?.child.child.kill("SIGKILL");
    await victim?.child.exited;
    const killedMs = performance.now();
    const { applied } = await readPosition(database);
    await eventually(
      () => readPosition(database),
      (now) => now.applied > applied,
    );
    standstillMaxMs = Math.max(standstillMaxMs, Math.round(performance.now() - killedMs));
    const replay = await replayMarket(database, market);
    if (!isRight(replay)) wrong.push({ kill, replay });
    processes[kill % 2] = await start();
  }
  load.isOn = false;
  await Promise.all(sending);
  await eventually(
    async () =>
      (
        await database.query(sql`
          SELECT FROM open_orders WHERE state = 'pending' OR cancel_requested OR amend_size IS NOT NULL
          UNION ALL SELECT FROM markets WHERE applied_sequence < admitted_sequence LIMIT 1`)
      ).length,
    (count) => count === 0,
  );
  const books = await Promise.all(processes.map(({ url }) => finalBook(database, url, tokens[0] ?? "")));
  const last = await replayMarket(database, market);
  if (!isRight(last)) wrong.push({ kill: times, replay: last });
  const report = {
    kills: times,
    owners: (await readPosition(database)).fence,
    standstillMaxMs,
    acknowledged: acknowledged.size,
    lost: await findLost(database, acknowledged),
    wrong,
    commands: last.commands,
    trades: last.trades.stored.length,
    violations: (await auditLedger(database)).filter(({ violations }) => violations.length > 0),
    books,
  };
  for (const { child } of processes) {
    child.child.kill("SIGTERM");
    await child.exited;
  }
  await database.drop();
  rmSync(folder, { recursive: true, force: true });
  return report;
}

/** Tenants with funds, whose tokens are valid in both processes. */
async function prepare(database: TestDatabase, folder: string): Promise<string[]> {
  const masterKey = randomBytes(32);
  writeFileSync(join(folder, "master.key"), masterKey.toString("base64"), { mode: 0o600 });
  const service = await startTestService({}, { database, masterKey, publicUrl });
  const tokens: string[] = [];
  for (let index = 0; index < traders; index++)
    tokens.push((await createTrader(service, { USD: "1000000", ETH: "10000" })).token);
  await service.stop();
  return tokens;
}

async function actUntilStopped(
  next: ReturnType<typeof createRandomDeeds>,
  { orders }: Bursar,
  load: { isOn: boolean },
  acknowledged: Set<string>,
): Promise<void> {
  const own: string[] = [];
  const unlessRefused = <Value>(answer: Promise<Value>) => answer.catch(() => undefined);
  for (let count = 0; load.isOn; count++) {
    const deed = next();
    if (deed.kind === "place") {
      const body = { market, ...deed.body } as unknown as PlaceOrderBody;
      // A client without a response repeats its request until it gets one.
      let order: { id: string } | undefined;
      while (order === undefined) {
        order = await unlessRefused(orders.place(body, { idempotencyKey: `kill-${count}` }));
        if (order === undefined) await sleep(20);
      }
      acknowledged.add(order.id);
      own.unshift(order.id);
    } else {
      const id = own[deed.ago] ?? own[0];
      if (id === undefined) continue;
      if (deed.kind === "cancel") await unlessRefused(orders.cancel(id));
      else await unlessRefused(orders.amend(id, { size: deed.size }));
    }
  }
}

function isRight({ fingerprints, trades, deltas }: Replay): boolean {
  return (
    fingerprints.replayed === fingerprints.restored &&
    JSON.stringify(trades.replayed) === JSON.stringify(trades.stored) &&
    deltas.wrong.length === 0
  );
}

async function readPosition(
  database: TestDatabase,
): Promise<{ applied: number; level: number; fence: number }> {
  const [row] = await database.query<{ applied: string; level: string; fence: string }>(sql`
    SELECT applied_sequence AS applied, level_sequence AS level, fence FROM markets WHERE market = ${market}
  `);
  return { applied: Number(row?.applied), level: Number(row?.level), fence: Number(row?.fence) };
}

async function findLost(database: TestDatabase, acknowledged: ReadonlySet<string>): Promise<string[]> {
  const rows = await database.query<{ id: string }>(sql`SELECT id FROM orders ORDER BY tenant_id, id`);
  const found = new Set(rows.map(({ id }) => id));
  return [...acknowledged].filter((id) => !found.has(readId("ord", id) ?? ""));
}

/** Levels and checksum, once the process has caught up. */
async function finalBook(database: TestDatabase, url: string, token: string): Promise<string> {
  const { level } = await readPosition(database);
  const { orderbook } = createBursar({ baseUrl: url, credentials: () => token });
  const book = await eventually(
    () => orderbook.get({ market, depth: 1000 }),
    ({ sequence }) => sequence === level,
  );
  return JSON.stringify([book.sequence, book.bids, book.asks, book.checksum]);
}
