// Ratios, measured side by side: each round measures every side once, so that whatever else the machine does hits all of them.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * @typedef {object} Side
 * @property {string} name
 * @property {() => Promise<number> | number} measure operations per second
 */

/**
 * @typedef {object} Ratio
 * @property {string} of
 * @property {string} against
 * @property {number} target
 */

/** @param {string} scenario @param {number} rounds @param {Side[]} sides @param {Ratio[]} ratios */
export async function compare(scenario, rounds, sides, ratios) {
  /** @type {Map<string, number[]>} */
  const samples = new Map(sides.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const { name, measure } of sides) samples.get(name)?.push(await measure());
  }
  const summary = [...samples].map(([name, values]) => ({ name, median: median(values), values }));
  const reached = ratios.map(({ of, against, target }) => {
    const value = medianOf(summary, of) / medianOf(summary, against);
    return { of, against, target, ratio: Math.round(value * 100) / 100, met: value >= target };
  });
  print(scenario, summary, reached);
  save(scenario, { scenario, at: new Date().toISOString(), rounds, summary, ratios: reached });
}

/** @param {{ name: string, median: number }[]} summary @param {string} name */
export function medianOf(summary, name) {
  return summary.find((side) => side.name === name)?.median ?? Number.NaN;
}

/** @param {readonly number[]} values */
export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/**
 * @param {string} scenario
 * @param {{ name: string, median: number, values: number[] }[]} summary
 * @param {{ of: string, against: string, target: number, ratio: number, met: boolean }[]} ratios
 */
function print(scenario, summary, ratios) {
  console.log(`\n${scenario}`);
  for (const { name, median: value, values } of summary) {
    const spread = Math.round(((Math.max(...values) - Math.min(...values)) / value) * 100);
    console.log(`  ${name.padEnd(34)} ${String(Math.round(value)).padStart(8)}/s   spread ${spread} %`);
  }
  for (const { of, against, target, ratio, met } of ratios) {
    console.log(
      `  ${`${of} : ${against}`.padEnd(34)} ${String(ratio).padStart(8)}     target ${target} ${met ? "met" : "NOT MET"}`,
    );
  }
}

/** @param {string} scenario @param {unknown} result */
function save(scenario, result) {
  const folder = join(import.meta.dirname, "results");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${scenario}.json`), `${JSON.stringify(result, null, 2)}\n`);
}

/** The resident memory of a process, in megabytes. @param {number} pid */
export function residentMegabytes(pid) {
  const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Math.round(Number(kilobytes) / 1024);
}
