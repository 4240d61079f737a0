/**
 * What `npm run bench` holds the service to. A target compares a figure of one side with the same figure of another side that the same
 * run has measured; without `against` it is a bound on the figure itself. A row without a bound is only reported.
 * @typedef {object} Target
 * @property {string} scenario
 * @property {string} figure
 * @property {string} of
 * @property {string} [against]
 * @property {number} [atLeast]
 * @property {number} [atMost]
 */

/** The figure that every side has. */
export const rate = "operations/s";

/** @type {readonly Target[]} */
export const targets = [
  { scenario: "peers", figure: "settled/s", of: "bursar", against: "plain service", atLeast: 8 },
  { scenario: "peers", figure: "settled/s", of: "bursar", against: "pg-boss service", atLeast: 5 },
  { scenario: "peers", figure: rate, of: "bursar", against: "plain service", atLeast: 1.5 },
  { scenario: "peers", figure: rate, of: "bursar", against: "pg-boss service", atLeast: 4 },
  { scenario: "cost", figure: "CPU µs of service", of: "transaction", against: "empty route", atMost: 2.5 },
  { scenario: "cost", figure: "CPU µs of PostgreSQL", of: "transaction", against: "pgbench", atMost: 0.9 },
  { scenario: "accept", figure: rate, of: "accept", against: "empty route" },
  { scenario: "accept", figure: rate, of: "accept with 50 rules", against: "accept" },
  { scenario: "accept", figure: rate, of: "accept", against: "pgbench" },
  { scenario: "bulk", figure: rate, of: "bulk", against: "pgbench", atLeast: 2 },
  { scenario: "settle", figure: rate, of: "settle", against: "pgbench TPC-B", atLeast: 5 },
  ...["settle", "accept", "bulk"].map((work) => ({
    scenario: "reader",
    figure: rate,
    of: `${work}, reader at work`,
    against: `${work}, reader stopped`,
    atLeast: 0.95,
  })),
  { scenario: "read", figure: rate, of: "read again", against: "empty route", atLeast: 0.6 },
  { scenario: "read", figure: rate, of: "read for the first time", against: "empty route" },
  { scenario: "orderbook", figure: rate, of: "orderbook", against: "empty route", atLeast: 0.9 },
  { scenario: "deliver", figure: rate, of: "deliver", against: "undici loop", atLeast: 0.35 },
  { scenario: "deliver", figure: "p50 ms at half load", of: "first attempt", atMost: 50 },
  { scenario: "match near", figure: rate, of: "bursar", against: "nodejs-order-book", atLeast: 10 },
  { scenario: "match anywhere", figure: rate, of: "bursar", against: "nodejs-order-book" },
  { scenario: "grow", figure: rate, of: "accept, grown", against: "accept, small", atLeast: 0.8 },
  { scenario: "grow", figure: rate, of: "settle, grown", against: "settle, small", atLeast: 0.8 },
  { scenario: "memory", figure: "resident MB", of: "bursar", atMost: 300 },
  { scenario: "noisy-neighbour", figure: "p99 ms", of: "beside an attack", against: "alone", atMost: 3 },
  { scenario: "noisy-neighbour", figure: "refused", of: "beside an attack", atMost: 0 },
  { scenario: "fairness", figure: "p99 ms", of: "beside a backlog", against: "alone", atMost: 5 },
  { scenario: "fairness", figure: "p99 ms", of: "beside a fan-out", against: "alone", atMost: 5 },
  { scenario: "idle", figure: "CPU % of service", of: "idle", atMost: 1 },
  { scenario: "scan", figure: rate, of: "scan", against: "fetch loop", atLeast: 0.5 },
  { scenario: "scan", figure: rate, of: "scan, many addresses", against: "scan", atLeast: 0.9 },
  { scenario: "payout", figure: rate, of: "payout", against: "expert loop", atLeast: 0.6 },
  { scenario: "stream", figure: "KB", of: "idle socket", atMost: 20 },
];

/** @typedef {Readonly<Record<string, Readonly<Record<string, number>>>>} Figures the figures of each side */
/** @typedef {Target & { title: string, result: number, met: boolean | undefined }} Result */

/** @type {Result[]} */
const results = [];

/**
 * Holds the figures of a scenario against its targets, and keeps the results for the table at the end of the run.
 * @param {string} scenario @param {Figures} figures @param {string} [title] which of several measurements of the scenario it was
 */
export function judge(scenario, figures, title = scenario) {
  const judged = targets
    .filter((target) => target.scenario === scenario)
    .map((target) => {
      const own = figures[target.of]?.[target.figure] ?? Number.NaN;
      const value =
        target.against === undefined ? own : own / (figures[target.against]?.[target.figure] ?? Number.NaN);
      return { ...target, title, result: Math.round(value * 100) / 100, met: isMet(target, value) };
    })
    // A scenario that measures one thing after the other is judged once for each.
    .filter(({ of }) => figures[of] !== undefined);
  results.push(...judged);
  return judged;
}

/** @param {Target} target @param {number} value */
function isMet({ atLeast, atMost }, value) {
  if (atLeast !== undefined) return value >= atLeast;
  if (atMost !== undefined) return value <= atMost;
  return undefined;
}

/** Prints the target and the result of every row that this run has measured, side by side. */
export function printResults() {
  if (results.length === 0) return;
  console.log(`\n${"".padEnd(86)} ${"target".padStart(8)} ${"result".padStart(8)}`);
  for (const { title, figure, of, against, atLeast, atMost, result, met } of results) {
    const what = `${title}: ${of}${against === undefined ? "" : ` : ${against}`}, ${figure}`;
    const target = atLeast !== undefined ? `≥ ${atLeast}` : atMost !== undefined ? `≤ ${atMost}` : "";
    const verdict = met === undefined ? "" : met ? "met" : "NOT MET";
    console.log(`${what.padEnd(86)} ${target.padStart(8)} ${String(result).padStart(8)}  ${verdict}`);
  }
}
