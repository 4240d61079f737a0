// The matching engine against npm nodejs-order-book: the same operations, in one run.
import { readFileSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import orderBookPackage from "nodejs-order-book";
import { createBook, restoreBook } from "../../packages/domain/dist/index.js";
import { compare, median } from "../measure.mjs";
import { makeWorkload } from "./match-operations.mjs";

/** @typedef {import("../../packages/domain/dist/index.js").BookCommand} BookCommand */
/** @typedef {import("../../packages/domain/dist/index.js").OpenOrder} OpenOrder */

const { OrderBook } = orderBookPackage;
setFlagsFromString("--expose-gc");
const collectGarbage = /** @type {() => void} */ (runInNewContext("gc"));
const operationCount = 100_000;
const secondsAtLeast = 1;
/** Filling a large book takes longer than working on it. */
const runsAtMost = 20;
/** The service takes effects batch by batch. */
const batchLength = 100;

/** @param {import("../run.mjs").BenchOptions} options */
export async function match({ rounds }) {
  // First, while there is nothing else on the heap that could go during the measurement.
  showHeap(1_000_000);
  for (const activity of /** @type {const} */ (["near", "anywhere"])) {
    for (const restingCount of [1000, 10_000, 100_000])
      await compareAt({ restingCount, ordersPerLevel: 10, activity }, rounds);
    showFlatness(activity, rounds);
  }
  await compareAt({ restingCount: 100_000, ordersPerLevel: 1000, activity: "anywhere" }, rounds);
}

/** @param {{ restingCount: number, ordersPerLevel: number, activity: "near" | "anywhere" }} kind @param {number} rounds */
async function compareAt({ restingCount, ordersPerLevel, activity }, rounds) {
  const workload = makeWorkload({ restingCount, ordersPerLevel, operationCount, activity });
  const theirs = { resting: workload.resting.map(theirCall), mix: workload.mix.map(theirCall) };
  assertSameBook(runOurs(workload).depth, runTheirs(theirs).depth);
  const ours = () => ({ perSecond: repeated(() => runOurs(workload)) });
  const other = () => ({ perSecond: repeated(() => runTheirs(theirs)) });
  const title = `match ${activity}, ${restingCount} orders, ${ordersPerLevel} a level`;
  const sides = [
    { name: "nodejs-order-book", measure: other, processes: {} },
    { name: "bursar", measure: ours, processes: {} },
  ];
  await compare(`match ${activity}`, rounds, sides, { title });
}

/** @param {import("./match-operations.mjs").Workload} workload */
function runOurs({ resting, mix }) {
  const book = createBook();
  /** @type {import("../../packages/domain/dist/index.js").Effect[]} */
  let effects = [];
  const run = (/** @type {BookCommand[]} */ commands) => {
    for (const command of commands) {
      book.apply(command, effects);
      if (effects.length >= batchLength) effects = [];
    }
  };
  run(resting);
  book.takeLevelChanges();
  return { seconds: timed(() => run(mix)), depth: () => book.depth(Number.MAX_SAFE_INTEGER) };
}

/** @param {{ resting: TheirCall[], mix: TheirCall[] }} calls */
function runTheirs({ resting, mix }) {
  const book = new OrderBook();
  const run = (/** @type {TheirCall[]} */ calls) => {
    for (const { kind, options } of calls) {
      if (kind === "limit") book.limit(options);
      else if (kind === "cancel") book.cancel(options);
      else book.market(options);
    }
  };
  run(resting);
  return { seconds: timed(() => run(mix)), depth: () => book.depth() };
}

/**
 * An operation in the form in which nodejs-order-book takes it without further work.
 * @typedef {{ kind: "limit" | "market" | "cancel", options: any }} TheirCall
 * @param {BookCommand} command @returns {TheirCall}
 */
function theirCall(command) {
  switch (command.kind) {
    case "place_limit": {
      const { side, id, size, price } = command;
      return { kind: "limit", options: { side, id, size, price } };
    }
    case "place_market":
      return { kind: "market", options: { side: command.side, size: command.size } };
    case "cancel":
      return { kind: "cancel", options: command.id };
    default:
      throw new Error(`no ${command.kind} here`);
  }
}

/** Both have done the same only if they end with the same book. @param {() => import("../../packages/domain/dist/index.js").Depth} ours @param {() => [[number, number][], [number, number][]]} theirs */
function assertSameBook(ours, theirs) {
  const pairs = (/** @type {{ price: number, size: number }[]} */ levels) =>
    levels.map(({ price, size }) => [price, size]);
  const { asks, bids } = ours();
  if (JSON.stringify([pairs(asks), pairs(bids)]) !== JSON.stringify(theirs()))
    throw new Error("the two libraries have come to different books");
}

/**
 * Our speed at each size of the book, as a part of that at the smallest; the sizes take turns. Beside it what one read costs on this
 * computer, from anywhere in as much memory as the orders take: no operation does more in a larger book, but it may wait longer.
 * @param {"near" | "anywhere"} activity @param {number} rounds
 */
function showFlatness(activity, rounds) {
  const sizes = [1000, 10_000, 100_000, 1_000_000].map((restingCount) => ({
    restingCount,
    workload: makeWorkload({ restingCount, ordersPerLevel: 10, operationCount, activity }),
    /** @type {number[]} */
    speeds: [],
    /** @type {number[]} */
    reads: [],
  }));
  for (let round = 0; round < rounds; round++)
    for (const { restingCount, workload, speeds, reads } of sizes) {
      speeds.push(repeated(() => runOurs(workload)));
      reads.push(readNanoseconds(restingCount));
    }
  console.log(`\nmatch, activity ${activity}, as the book grows`);
  const first = median(sizes[0]?.speeds ?? []);
  for (const { restingCount, speeds, reads } of sizes) {
    const speed = median(speeds);
    console.log(
      `  ${`${restingCount} resting orders`.padEnd(34)} ${String(Math.round(speed)).padStart(8)}/s   ${(speed / first).toFixed(2)} of the smallest; ${Math.round(1e9 / speed)} ns, a read ${median(reads).toFixed(1)} ns`,
    );
  }
}

/** A walk from row to row, in which each says where the next one is. @param {number} rowCount */
function readNanoseconds(rowCount) {
  const wordsPerRow = 8;
  const order = Array.from({ length: rowCount }, (_, row) => row);
  for (let at = rowCount - 1; at > 0; at--) {
    const other = Math.floor(Math.random() * (at + 1));
    [order[at], order[other]] = [order[other] ?? 0, order[at] ?? 0];
  }
  const next = new Int32Array(rowCount * wordsPerRow);
  for (const [at, row] of order.entries())
    next[row * wordsPerRow] = (order[(at + 1) % rowCount] ?? 0) * wordsPerRow;
  const steps = 5_000_000;
  let row = 0;
  const seconds = timed(() => {
    for (let step = 0; step < steps; step++) row = next[row] ?? 0;
  });
  if (row < 0) throw new Error("the walk has left its rows");
  return (seconds / steps) * 1e9;
}

/** What an open order costs, with its id of 36 characters. @param {number} count */
function showHeap(count) {
  const used = () => {
    collectGarbage();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    return heapUsed + arrayBuffers;
  };
  const before = used();
  const book = restoreBook(manyOrders(count));
  const bytes = (used() - before) / book.orderCount();
  console.log(
    `\nmatch\n  ${"heap bytes per resting order".padEnd(34)} ${String(Math.round(bytes)).padStart(8)}`,
  );
}

/** @param {number} count @returns {Generator<OpenOrder>} */
function* manyOrders(count) {
  for (let number = 0; number < count; number++) {
    const id = Buffer.from(`0192f0c1-7a2b-7c3d-8e4f-${number.toString(16).padStart(12, "0")}`).toString(
      "latin1",
    );
    const isBuy = number % 2 === 0;
    const offset = 1 + (number % 50_000);
    const price = isBuy ? 1_000_000 - offset : 1_000_000 + offset;
    yield {
      number: number + 1,
      id,
      owner: "owner",
      side: isBuy ? "buy" : "sell",
      price,
      size: 10,
      remaining: 10,
    };
  }
}

/** Operations per second, over as many runs with a new book each as give a second. @param {() => { seconds: number }} run */
function repeated(run) {
  let runs = 0;
  let seconds = 0;
  while (seconds < secondsAtLeast && runs < runsAtMost) {
    seconds += run().seconds;
    runs += 1;
  }
  return (runs * operationCount) / seconds;
}

/**
 * Seconds of processor time of this thread. The clock on the wall would measure the neighbours on a shared machine, and a run of
 * some 30 ms is either interrupted by them or not; the time of all threads has the sweeping of what the last run left behind.
 * @param {() => void} run
 */
function timed(run) {
  collectGarbage();
  const startedAt = threadSeconds();
  run();
  return threadSeconds() - startedAt;
}

function threadSeconds() {
  const [nanoseconds] = readFileSync(`/proc/self/task/${process.pid}/schedstat`, "utf8").split(" ");
  return Number(nanoseconds) / 1e9;
}
