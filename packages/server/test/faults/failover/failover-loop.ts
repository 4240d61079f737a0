import { setTimeout as sleep } from "node:timers/promises";
import { readId } from "@bursar/protocol";
import { sql } from "../../../src/store/core/sql.js";
import { auditLedger } from "../../../src/store/ledger/audit-ledger.js";
import { eventually } from "../../harness/eventually.js";
import { type Replay, replayMarket } from "../../harness/markets/replay-market.js";
import { type Acknowledged, createMixedLoad, type MixedLoad, market } from "../mixed-load.js";
import { type StreamView, viewStream } from "../stream/stream-view.js";
import { startTwoProcesses, type TwoProcesses } from "../two-processes.js";
import { findDifferences } from "./compare-with-database.js";
import { freezeDuring } from "./frozen-process.js";
import type { PostgresPair } from "./postgres-pair.js";

export interface FailoverReport {
  failovers: number;
  /** Requests that were answered with 202. */
  acknowledged: number;
  /** Keys whose answers named different ids: each is done twice. */
  doubled: string[];
  /** What was acknowledged and does not exist. */
  lost: string[];
  /** For each failover, what differs from the database afterwards. */
  differences: string[][];
  /** What the followers of the streams could not make sense of. */
  faults: string[];
  /** Lost transactions that a process has shown which stood still during a failover. */
  ghosts: string[];
  /** How often each follower had to begin again. */
  restarts: number[];
  violations: object[];
  marketIsRight: boolean;
  /** From each kill to the next answer 202, with both processes ready. */
  outagesMs: number[];
}

/** The number of answers before a kill and after the next primary has taken over, so that a slow machine tests as much as a fast one. */
const answersBefore = 80;
const answersAfter = 40;
/** Answers that only the old primary knows. */
const answersLost = 40;
/** Every failover compares what was acknowledged since the one before, and more. */
const comparedMax = 500;
/** A process that stood still is asked for so many payments. */
const frozenMax = 50;
const agreementTimeoutMs = 60_000;

interface LoopOptions {
  times: number;
  isSynchronous: boolean;
  /** Called after each failover, with how long it took until both processes were ready. */
  onFailover?: (count: number, outageMs: number) => void;
}

/** Fails over again and again under load. After each failover the load pauses, and everything that is shown is compared with the database. */
export async function runFailoverLoop(pair: PostgresPair, options: LoopOptions): Promise<FailoverReport> {
  await pair.setSynchronous(options.isSynchronous);
  const world = await startTwoProcesses(pair.url);
  const views = world.services.map(({ url }) => viewStream(url, world.payer, world.tokenOf));
  const load = createMixedLoad(world);
  const results: Failover[] = [];
  for (let count = 0; count < options.times; count++) {
    const result = await failOverOnce({ pair, world, views, load }, options.isSynchronous, count % 2 === 1);
    results.push(result);
    options.onFailover?.(results.length, result.outageMs);
    await pair.rebuild();
    await pair.setSynchronous(options.isSynchronous);
  }
  for (const view of views) await view.stop();
  const report = {
    failovers: options.times,
    acknowledged: load.acknowledged.length,
    doubled: load.acknowledged.filter(({ ids }) => ids.size > 1).map(({ key }) => key),
    lost: await findLost(world, load.acknowledged),
    differences: results.map(({ differences }) => differences),
    ghosts: results.flatMap(({ ghosts }) => ghosts),
    faults: views.flatMap(({ faults }) => faults),
    restarts: views.map((view) => view.restarts()),
    violations: (await auditLedger(world.database)).filter(({ violations }) => violations.length > 0),
    marketIsRight: isRight(await replayMarket(world.database, market)),
    outagesMs: results.map(({ outageMs }) => outageMs),
  };
  await world.close();
  return report;
}

interface Failover {
  outageMs: number;
  ghosts: string[];
  differences: string[];
}

interface Parts {
  pair: PostgresPair;
  world: TwoProcesses;
  views: readonly StreamView[];
  load: MixedLoad;
}

/**
 * If it is quiet, nothing happens after the failover that would show a process that what it knows is wrong, and one process stands still
 * meanwhile.
 */
async function failOverOnce(
  { pair, world, views, load }: Parts,
  isSynchronous: boolean,
  isQuiet: boolean,
): Promise<Failover> {
  const answered = async (count: number) => {
    const last = load.answers() + count;
    await eventually(load.answers, (answers) => answers >= last, 180_000);
  };
  load.resume();
  await answered(answersBefore);
  if (!isSynchronous) {
    await pair.holdBack();
    await answered(answersLost);
  }
  if (isQuiet) {
    await load.pause();
    await untilQuiet(world);
  }
  const killedMs = performance.now();
  const ghosts = isQuiet ? await freezeDuring(world, lastPayments(load), pair.failOver) : [];
  if (!isQuiet) {
    await pair.failOver();
    await answered(1);
  }
  await untilReady(world);
  const outageMs = Math.round(performance.now() - killedMs);
  const arrivedBefore = world.receiver.received.length;
  if (!isQuiet) await answered(answersAfter);
  await load.pause();
  await untilQuiet(world);
  const seen = { world, views, acknowledged: load.acknowledged.slice(-comparedMax), arrivedBefore };
  return { outageMs, ghosts, differences: await untilAgreed(() => findDifferences(seen)) };
}

const lastPayments = ({ acknowledged }: MixedLoad) =>
  acknowledged
    .filter(({ kind }) => kind === "transactions")
    .slice(-frozenMax)
    .flatMap(({ ids }) => [...ids]);

/** Both processes use the new primary. */
async function untilReady({ services }: TwoProcesses): Promise<void> {
  for (const { url } of services)
    await eventually(
      () =>
        fetch(`${url}/readyz`).then(
          ({ status }) => status,
          () => 0,
        ),
      (status) => status === 200,
    );
}

/** Nothing is left to settle, to admit or to match. The first statement after a failover fails, because the database has changed. */
async function untilQuiet({ database }: TwoProcesses): Promise<void> {
  const listUnfinished = () =>
    database.query(sql`
      SELECT FROM open_orders WHERE state = 'pending' OR cancel_requested OR amend_size IS NOT NULL
      UNION ALL SELECT FROM markets WHERE applied_sequence < admitted_sequence
      UNION ALL SELECT FROM open_transactions LIMIT 1`);
  await eventually(
    () => listUnfinished().catch((error: unknown) => [error]),
    (unfinished) => unfinished.length === 0,
  );
}

/** The differences that do not go away. */
async function untilAgreed(compare: () => Promise<string[]>): Promise<string[]> {
  const deadlineMs = performance.now() + agreementTimeoutMs;
  for (;;) {
    const found = await compare().catch((error: unknown) => [String(error)]);
    if (found.length === 0 || performance.now() > deadlineMs) return found;
    await sleep(500);
  }
}

async function findLost(world: TwoProcesses, acknowledged: readonly Acknowledged[]): Promise<string[]> {
  const rows = await world.database.query<{ id: string }>(sql`
    SELECT id FROM transactions UNION ALL SELECT id FROM orders
  `);
  const found = new Set(rows.map(({ id }) => id));
  return acknowledged.flatMap(({ kind, ids }) =>
    [...ids].filter((id) => !found.has(readId(kind === "orders" ? "ord" : "tx", id) ?? "")),
  );
}

function isRight({ fingerprints, trades, deltas }: Replay): boolean {
  return (
    fingerprints.replayed === fingerprints.restored &&
    JSON.stringify(trades.replayed) === JSON.stringify(trades.stored) &&
    deltas.wrong.length === 0
  );
}
