// Ratios, measured side by side: each round measures every side once, so that whatever else the machine does hits all of them.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { watchProcesses } from "./processes.mjs";

/**
 * @typedef {object} Side
 * @property {string} name
 * @property {() => Promise<number> | number} measure operations per second
 * @property {Readonly<Record<string, import("./processes.mjs").Watched>>} processes what to watch meanwhile
 */

/**
 * @typedef {object} Ratio
 * @property {string} of
 * @property {string} against
 * @property {number} target
 */

/**
 * @typedef {object} Sample
 * @property {number} value operations per second
 * @property {Record<string, import("./processes.mjs").Usage>} usage
 */

/** @param {string} scenario @param {number} rounds @param {Side[]} sides @param {Ratio[]} ratios @param {object} [facts] to be saved too */
export async function compare(scenario, rounds, sides, ratios, facts = {}) {
  /** @type {Map<string, Sample[]>} */
  const samples = new Map(sides.map(({ name }) => [name, []]));
  // Once for nothing: a process that has just started runs at a half of its speed until its code is compiled.
  for (const { measure } of sides) await measure();
  for (let round = 0; round < rounds; round++) {
    for (const { name, measure, processes } of sides) {
      const endWatch = watchProcesses(processes);
      const value = await measure();
      samples.get(name)?.push({ value, usage: endWatch() });
    }
  }
  const summary = [...samples].map(([name, taken]) => summarise(name, taken));
  const reached = ratios.map(({ of, against, target }) => {
    const value = medianOf(summary, of) / medianOf(summary, against);
    return { of, against, target, ratio: Math.round(value * 100) / 100, met: value >= target };
  });
  print(scenario, summary, reached);
  save(scenario, { rounds, summary, ratios: reached, ...facts });
}

/** @param {string} name @param {Sample[]} samples */
function summarise(name, samples) {
  const values = samples.map(({ value }) => value);
  const processes = Object.keys(samples[0]?.usage ?? {}).map((process) => {
    const usages = samples.flatMap(({ usage }) => usage[process] ?? []);
    return {
      process,
      cpuSeconds: median(usages.map(({ cpuSeconds }) => cpuSeconds)),
      megabytes: Math.max(...usages.map(({ megabytes }) => megabytes)),
      kind: usages[0]?.kind ?? "RSS",
    };
  });
  return { name, median: median(values), values, processes };
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
 * @param {ReturnType<typeof summarise>[]} summary
 * @param {{ of: string, against: string, target: number, ratio: number, met: boolean }[]} ratios
 */
function print(scenario, summary, ratios) {
  console.log(`\n${scenario}`);
  for (const { name, median: value, values, processes } of summary) {
    const spread = Math.round(((Math.max(...values) - Math.min(...values)) / value) * 100);
    console.log(`  ${name.padEnd(34)} ${String(Math.round(value)).padStart(8)}/s   spread ${spread} %`);
    for (const { process, cpuSeconds, megabytes, kind } of processes) {
      console.log(
        `    ${process.padEnd(32)} ${cpuSeconds.toFixed(2).padStart(8)} s of CPU, ${megabytes} MB ${kind}`,
      );
    }
  }
  for (const { of, against, target, ratio, met } of ratios) {
    console.log(
      `  ${`${of} : ${against}`.padEnd(34)} ${String(ratio).padStart(8)}     target ${target} ${met ? "met" : "NOT MET"}`,
    );
  }
}

/** @param {string} scenario @param {object} result */
export function save(scenario, result) {
  const folder = join(import.meta.dirname, "results");
  mkdirSync(folder, { recursive: true });
  const content = { scenario, at: new Date().toISOString(), ...result };
  writeFileSync(join(folder, `${scenario}.json`), `${JSON.stringify(content, null, 2)}\n`);
}
