// npm run bench -- [scenario …] [--rounds N] [--seconds N]
import { parseArgs } from "node:util";
import { accept } from "./scenarios/accept.mjs";
import { bulk } from "./scenarios/bulk.mjs";
import { read } from "./scenarios/read.mjs";
import { settle } from "./scenarios/settle.mjs";

/**
 * @typedef {object} BenchOptions
 * @property {number} rounds
 * @property {number} seconds of each measurement
 */

/** @type {Record<string, (options: BenchOptions) => Promise<void>>} */
const scenarios = { accept, bulk, settle, read };

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: "string", default: "5" },
    seconds: { type: "string", default: "4" },
  },
});
const options = { rounds: Number(values.rounds), seconds: Number(values.seconds) };

for (const name of positionals.length > 0 ? positionals : Object.keys(scenarios)) {
  const scenario = scenarios[name];
  if (scenario === undefined) {
    console.error(`bench: there is no scenario ${name}; there are ${Object.keys(scenarios).join(", ")}`);
    process.exit(2);
  }
  await scenario(options);
}
