import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "../../src/store/core/sql.js";
import { createTestDatabase } from "../harness/database/test-database.js";
import { eventually } from "../harness/eventually.js";
import type { ProcessUse } from "../harness/service/measured-service.js";
import { openStream } from "../harness/stream/stream-client.js";
import { createMixedLoad } from "./mixed-load.js";
import { viewStream } from "./stream/stream-view.js";
import { startTwoProcesses, type TwoProcesses } from "./two-processes.js";

/** What both processes use at one moment, added up. */
interface Sample extends ProcessUse {
  connections: number;
}

export interface SoakReport {
  /** Requests that were answered with 202. */
  answers: number;
  /** The medians of the first and the last third, after the warm-up. */
  first: Sample;
  last: Sample;
  idle: {
    /** Of one core, for each process. */
    cpuPercent: number[];
    /** SQL transactions, of which nearly all are one statement, of both processes. */
    statementsPerSecond: number;
  };
}

/** Caches fill and code is compiled in this part of the time. */
const warmUpShare = 0.25;
const samplesMax = 60;
const sampleMinSeconds = 2;
/** Seven clients with this pause make about a hundred requests a second. */
const pauseMs = 60;
const streamSeconds = 1;
const historyCount = 100;

export async function runSoak(seconds: number, idleSeconds: number): Promise<SoakReport> {
  const database = await createTestDatabase("empty");
  const world = await startTwoProcesses(database.url);
  const views = world.services.map(({ url }) => viewStream(url, world.payer, world.tokenOf));
  const load = createMixedLoad(world, pauseMs);
  const visits = { isOn: true };
  const visiting = visitStreams(world, visits, () => views[0]?.log().length ?? 0);
  load.resume();
  await sleep(seconds * warmUpShare * 1000);
  const samplesCount = Math.min(samplesMax, Math.floor(seconds / sampleMinSeconds));
  const samples: Sample[] = [];
  for (let count = 0; count < samplesCount; count++) {
    await sleep((seconds * (1 - warmUpShare) * 1000) / samplesCount);
    samples.push(await measure(world));
  }
  await load.pause();
  visits.isOn = false;
  await visiting;
  await untilIdle(world);
  const idle = await measureIdle(world, idleSeconds);
  for (const view of views) await view.stop();
  await world.close();
  await database.drop();
  const third = Math.floor(samplesCount / 3);
  return {
    answers: load.answers(),
    first: medianOf(samples.slice(0, third)),
    last: medianOf(samples.slice(-third)),
    idle,
  };
}

/**
 * Clients that come, read some history, follow the log for a moment, and go without a word: what a process must not keep. Reading from the
 * beginning would fill the cache of history, which has room for 16 MB, for as long as the log grows.
 */
async function visitStreams(
  world: TwoProcesses,
  visits: { isOn: boolean },
  lastSequence: () => number,
): Promise<void> {
  for (let count = 0; visits.isOn; count++) {
    const token = await world.tokenOf(world.payer);
    const stream = await openStream(world.services[count % 2]?.url ?? "", { token });
    stream.send({ type: "subscribe", channel: "events", since: Math.max(0, lastSequence() - historyCount) });
    stream.send({ type: "subscribe", channel: "orderbook:ETH-USD" });
    await sleep(streamSeconds * 1000);
    stream.ws.terminate();
    await stream.closed;
  }
}

async function measure({ services, database }: TwoProcesses): Promise<Sample> {
  const [row] = await database.query<{ connections: number }>(sql`
    SELECT count(*)::int AS connections FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
  `);
  const uses = [await services[0].measure(), await services[1].measure()];
  const sum = (name: keyof ProcessUse) => uses.reduce((total, use) => total + use[name], 0);
  return {
    heapBytes: sum("heapBytes"),
    externalBytes: sum("externalBytes"),
    rssBytes: sum("rssBytes"),
    cpuMs: sum("cpuMs"),
    descriptors: sum("descriptors"),
    handles: sum("handles"),
    connections: row?.connections ?? 0,
  };
}

function medianOf(samples: readonly Sample[]): Sample {
  const median = (name: keyof Sample) => {
    const values = samples.map((sample) => sample[name]).sort((a, b) => a - b);
    return values[Math.floor(values.length / 2)] ?? 0;
  };
  return {
    heapBytes: median("heapBytes"),
    externalBytes: median("externalBytes"),
    rssBytes: median("rssBytes"),
    cpuMs: median("cpuMs"),
    descriptors: median("descriptors"),
    handles: median("handles"),
    connections: median("connections"),
  };
}

async function untilIdle({ database }: TwoProcesses): Promise<void> {
  await eventually(
    () =>
      database.query(sql`
        SELECT FROM pending_deliveries UNION ALL SELECT FROM open_transactions
        UNION ALL SELECT FROM markets WHERE applied_sequence < admitted_sequence LIMIT 1`),
    (rows) => rows.length === 0,
  );
}

async function measureIdle(
  { services, database }: TwoProcesses,
  seconds: number,
): Promise<SoakReport["idle"]> {
  const readCount = async () => {
    const [row] = await database.query<{ count: string }>(sql`
      SELECT xact_commit + xact_rollback AS count FROM pg_stat_database WHERE datname = current_database()
    `);
    return Number(row?.count);
  };
  const readUse = () => Promise.all(services.map((service) => service.measure("as it is")));
  const before = await readUse();
  const countBefore = await readCount();
  await sleep(seconds * 1000);
  const countAfter = await readCount();
  const after = await readUse();
  const cpuPercent = after.map(({ cpuMs }, index) => (cpuMs - (before[index]?.cpuMs ?? 0)) / (seconds * 10));
  return {
    cpuPercent: cpuPercent.map((value) => Number(value.toFixed(2))),
    statementsPerSecond: Number(((countAfter - countBefore) / seconds).toFixed(1)),
  };
}
