// Figures measured side by side: each round measures every side once, so that other work on the machine affects all of them.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { watchProcesses } from "./processes.mjs";
import { judge, rate } from "./targets.mjs";

/**
 * @typedef {object} Measured
 * @property {number} perSecond
 * @property {number} [operations] how many there were; the CPU of each process is then also reported per operation
 * @property {Readonly<Record<string, number>>} [figures] further figures
 */

/**
 * @typedef {object} Side
 * @property {string} name
 * @property {() => Promise<Measured> | Measured} measure
 * @property {Readonly<Record<string, import("./processes.mjs").Watched>>} processes what to watch meanwhile
 */

/**
 * @typedef {object} Sample
 * @property {Record<string, number>} figures
 * @property {Record<string, import("./processes.mjs").Usage>} usage
 */

/**
 * @param {string} scenario @param {number} rounds @param {Side[]} sides
 * @param {{ title?: string, facts?: object, roundsMs?: number }} [options] the name of one of several measurements, what else to save, and a
 * time after which no round begins, except for the first three
 */
export async function compare(
  scenario,
  rounds,
  sides,
  { title = scenario, facts = {}, roundsMs = Number.POSITIVE_INFINITY } = {},
) {
  /** @type {Map<string, Sample[]>} */
  const samples = new Map(sides.map(({ name }) => [name, []]));
  // The first round is not counted: a process that has just started runs at half its speed until its code is compiled.
  for (const { measure } of sides) await measure();
  const startedAt = performance.now();
  const isLate = (/** @type {number} */ round) => round >= 3 && performance.now() - startedAt > roundsMs;
  for (let round = 0; round < rounds && !isLate(round); round++)
    for (const side of sides) samples.get(side.name)?.push(await sampleOf(side));
  const summary = [...samples].map(([name, taken]) => summarise(name, taken));
  print(title, summary);
  const figures = Object.fromEntries(summary.map((side) => [side.name, side.figures]));
  save(title, {
    rounds: samples.get(sides[0]?.name ?? "")?.length,
    summary,
    results: judge(scenario, figures, title),
    ...facts,
  });
  return figures;
}

/** @param {Side} side @returns {Promise<Sample>} */
async function sampleOf({ measure, processes }) {
  const endWatch = watchProcesses(processes);
  const { perSecond, operations, figures } = await measure();
  const usage = endWatch();
  const costs =
    operations === undefined
      ? []
      : Object.entries(usage).map(([name, { cpuSeconds }]) => [
          `CPU µs of ${name}`,
          (cpuSeconds / operations) * 1e6,
        ]);
  return { figures: { [rate]: perSecond, ...figures, ...Object.fromEntries(costs) }, usage };
}

/** @param {string} name @param {Sample[]} samples */
function summarise(name, samples) {
  const all = Object.keys(samples[0]?.figures ?? {}).map((figure) => {
    const values = samples.map(({ figures }) => figures[figure] ?? Number.NaN);
    return { figure, median: median(values), values };
  });
  const memory = Object.keys(samples[0]?.usage ?? {}).map((process) => {
    const usages = samples.flatMap(({ usage }) => usage[process] ?? []);
    const megabytes = Math.max(...usages.map((usage) => usage.megabytes));
    return { process, megabytes, kind: usages[0]?.kind ?? "RSS" };
  });
  return { name, figures: Object.fromEntries(all.map((one) => [one.figure, one.median])), all, memory };
}

/** @param {readonly number[]} values */
export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** @param {string} title @param {ReturnType<typeof summarise>[]} summary */
function print(title, summary) {
  console.log(`\n${title}`);
  for (const { name, all, memory } of summary) {
    console.log(`  ${name}`);
    for (const { figure, median: value, values } of all) {
      const spread = Math.round(((Math.max(...values) - Math.min(...values)) / value) * 100);
      const text = value < 1000 ? value.toFixed(1) : String(Math.round(value));
      console.log(`    ${figure.padEnd(32)} ${text.padStart(8)}   spread ${spread} %`);
    }
    for (const { process, megabytes, kind } of memory)
      console.log(`    ${`memory of ${process}`.padEnd(32)} ${String(megabytes).padStart(8)} MB ${kind}`);
  }
}

/** @param {string} title @param {object} result */
export function save(title, result) {
  const folder = join(import.meta.dirname, "results");
  mkdirSync(folder, { recursive: true });
  const content = { title, at: new Date().toISOString(), ...result };
  writeFileSync(join(folder, `${title}.json`), `${JSON.stringify(content, null, 2)}\n`);
}
