// npm run bench -- [scenario …] [--rounds N] [--seconds N] [--rows N] [--against FOLDER]
import "./refuse-old-node.mjs";
import { parseArgs } from "node:util";
import { accept } from "./scenarios/accept.mjs";
import { bulk } from "./scenarios/bulk.mjs";
import { cost } from "./scenarios/cost.mjs";
import { deliver } from "./scenarios/deliver.mjs";
import { fairness } from "./scenarios/fairness.mjs";
import { grow } from "./scenarios/grow.mjs";
import { idle } from "./scenarios/idle.mjs";
import { match } from "./scenarios/match.mjs";
import { memory } from "./scenarios/memory.mjs";
import { noisyNeighbour } from "./scenarios/noisy-neighbour.mjs";
import { orderbook } from "./scenarios/orderbook.mjs";
import { payout } from "./scenarios/payout.mjs";
import { peers } from "./scenarios/peers.mjs";
import { read } from "./scenarios/read.mjs";
import { reader } from "./scenarios/reader.mjs";
import { requestCosts } from "./scenarios/request-costs.mjs";
import { scan } from "./scenarios/scan.mjs";
import { settle } from "./scenarios/settle.mjs";
import { stream } from "./scenarios/stream.mjs";
import { versions } from "./scenarios/versions.mjs";
import { printResults } from "./targets.mjs";

/**
 * @typedef {object} BenchOptions
 * @property {number} rounds
 * @property {number} seconds of each measurement
 * @property {number | undefined} rows how much `grow` and `memory` store, the backlog of `fairness`, the addresses of `scan` and the payments of `payout`
 * @property {string | undefined} against the other checkout of `versions`
 */

/** @type {Record<string, (options: BenchOptions) => Promise<void>>} */
const scenarios = {
  peers,
  cost,
  accept,
  bulk,
  settle,
  reader,
  read,
  orderbook,
  deliver,
  match,
  stream,
  scan,
  payout,
  "noisy-neighbour": noisyNeighbour,
  "request-costs": requestCosts,
  fairness,
  idle,
  grow,
  memory,
  versions,
};

/** These take long and much disk, or need an option; they run only when they are named. */
const onRequest = ["grow", "memory", "versions", "request-costs"];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: "string", default: "5" },
    seconds: { type: "string", default: "4" },
    rows: { type: "string" },
    against: { type: "string" },
  },
});
const options = {
  rounds: Number(values.rounds),
  seconds: Number(values.seconds),
  rows: values.rows === undefined ? undefined : Number(values.rows),
  against: values.against,
};
const unnamed = Object.keys(scenarios).filter((name) => !onRequest.includes(name));

for (const name of positionals.length > 0 ? positionals : unnamed) {
  const scenario = scenarios[name];
  if (scenario === undefined) {
    console.error(`bench: unknown scenario ${name}; known are ${Object.keys(scenarios).join(", ")}`);
    process.exit(2);
  }
  await scenario(options);
}
printResults();
