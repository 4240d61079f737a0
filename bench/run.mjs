// npm run bench -- [scenario …] [--rounds N] [--seconds N] [--rows N]
import { parseArgs } from "node:util";
import { accept } from "./scenarios/accept.mjs";
import { bulk } from "./scenarios/bulk.mjs";
import { deliver } from "./scenarios/deliver.mjs";
import { grow } from "./scenarios/grow.mjs";
import { match } from "./scenarios/match.mjs";
import { memory } from "./scenarios/memory.mjs";
import { orderbook } from "./scenarios/orderbook.mjs";
import { read } from "./scenarios/read.mjs";
import { settle } from "./scenarios/settle.mjs";
import { stream } from "./scenarios/stream.mjs";

/**
 * @typedef {object} BenchOptions
 * @property {number} rounds
 * @property {number} seconds of each measurement
 * @property {number | undefined} rows how much a scenario stores, where it stores much
 */

/** @type {Record<string, (options: BenchOptions) => Promise<void>>} */
const scenarios = { accept, bulk, settle, read, orderbook, match, deliver, stream, grow, memory };

/** These take long and much disk; they run when they are named. */
const onRequest = ["grow", "memory"];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: "string", default: "5" },
    seconds: { type: "string", default: "4" },
    rows: { type: "string" },
  },
});
const options = {
  rounds: Number(values.rounds),
  seconds: Number(values.seconds),
  rows: values.rows === undefined ? undefined : Number(values.rows),
};
const unnamed = Object.keys(scenarios).filter((name) => !onRequest.includes(name));

for (const name of positionals.length > 0 ? positionals : unnamed) {
  const scenario = scenarios[name];
  if (scenario === undefined) {
    console.error(`bench: there is no scenario ${name}; there are ${Object.keys(scenarios).join(", ")}`);
    process.exit(2);
  }
  await scenario(options);
}
