// What processes use while something is measured: processor time and memory, as Linux counts them.
import { readdirSync, readFileSync } from "node:fs";
import { setInterval } from "node:timers";

/**
 * A process that is watched. With `children` its direct children count too, also those that have ended meanwhile: so a PostgreSQL
 * is its postmaster with all its backends, and the load generator is this process with the programs that it runs.
 * @typedef {object} Watched
 * @property {number} pid
 * @property {boolean} [children]
 * @property {readonly number[]} [except] children that are watched by themselves
 */

/**
 * @typedef {object} Usage
 * @property {number} cpuSeconds used while it was watched
 * @property {number} megabytes the most that was seen in memory
 * @property {"RSS" | "PSS"} kind of memory: RSS for one process; PSS for several, which counts what they share once
 */

// The kernel's unit in /proc, which has been 100 a second on every platform for decades.
const ticksPerSecond = 100;
const sampleEveryMs = 1000;

/** @param {Readonly<Record<string, Watched>>} watched @returns {() => Record<string, Usage>} ends the watch and tells */
export function watchProcesses(watched) {
  const names = Object.keys(watched);
  const of = (/** @type {string} */ name) => /** @type {Watched} */ (watched[name]);
  const before = names.map((name) => cpuTicks(of(name)));
  const most = names.map(() => 0);
  const sample = () =>
    names.forEach((name, index) => {
      most[index] = Math.max(most[index] ?? 0, memoryKilobytes(of(name)));
    });
  const timer = setInterval(sample, sampleEveryMs);
  return () => {
    clearInterval(timer);
    sample();
    return Object.fromEntries(
      names.map((name, index) => [
        name,
        {
          cpuSeconds: (cpuTicks(of(name)) - (before[index] ?? 0)) / ticksPerSecond,
          megabytes: Math.round((most[index] ?? 0) / 1024),
          kind: of(name).children === true ? "PSS" : "RSS",
        },
      ]),
    );
  };
}

/** The resident memory of one process and the most that it ever was, in megabytes. @param {number} pid */
export function residentMegabytes(pid) {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const field = (/** @type {string} */ name) =>
    Math.round(Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1]) / 1024);
  return { current: field("VmRSS"), peak: field("VmHWM") };
}

/** @param {Watched} watched */
function cpuTicks({ pid, children = false, except = [] }) {
  const own = statOf(pid);
  if (own === undefined) return 0;
  const [user, system, endedUser, endedSystem] = own.ticks;
  if (!children) return user + system;
  const living = childrenOf(pid, except).map(({ ticks }) => ticks[0] + ticks[1]);
  return user + system + endedUser + endedSystem + living.reduce((sum, ticks) => sum + ticks, 0);
}

/** @param {Watched} watched */
function memoryKilobytes({ pid, children = false, except = [] }) {
  if (!children) return residentMegabytes(pid).current * 1024;
  const pids = [pid, ...childrenOf(pid, except).map((child) => child.pid)];
  return pids.reduce((sum, each) => sum + proportionalKilobytes(each), 0);
}

/** @param {number} pid */
function proportionalKilobytes(pid) {
  try {
    return Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))?.[1] ?? 0);
  } catch {
    // It has ended between being listed and being read.
    return 0;
  }
}

/** @param {number} parent @param {readonly number[]} except */
function childrenOf(parent, except) {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && !except.includes(Number(name)))
    .flatMap((name) => statOf(Number(name)) ?? [])
    .filter((stat) => stat.parent === parent);
}

/** @param {number} pid @returns {{ pid: number, parent: number, ticks: [number, number, number, number] } | undefined} */
function statOf(pid) {
  try {
    // The name of the program stands in parentheses and may hold anything; the fields after it are numbered from 3.
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    const field = (/** @type {number} */ number) => Number(fields[number - 3]);
    return { pid, parent: field(4), ticks: [field(14), field(15), field(16), field(17)] };
  } catch {
    return undefined;
  }
}
