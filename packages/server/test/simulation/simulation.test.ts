import { describe, expect, it } from "vitest";
import { plantedBugs } from "./bugs/planted-bugs.js";
import { runSimulation, type SimulationReport } from "./run-simulation.js";
import { createRandom } from "./world/random.js";
import { drawScenario } from "./world/scenario.js";

/** `npm run test:long -- simulation` sets these: how many seeds, or the one to run alone and show. */
const seeds = Number(process.env["BURSAR_SIM_SEEDS"] ?? 500);
const onlySeed = Number(process.env["BURSAR_SIM_SEED"] ?? 0);
/** Enough for the slowest machine, and an end for a run that hangs. */
const timeoutMs = 60_000 + seeds * 1000;
const seedsForBugs = 500;
/** Most seeds have none. */
const seedsForRewindBugs = 2000;

const tell = (text: string) => void process.stdout.write(`${text}\n`);

function explain({ seed, violations }: SimulationReport): string {
  return [
    `Seed ${seed} breaks a promise. Alone: npm run test:long -- simulation --seed ${seed}`,
    ...violations,
  ].join("\n  ");
}

/** Answers, outcomes and faults, as the reports count them. */
const mustHappen = [
  "create 202",
  "create 503",
  "create lost",
  "create IDEMPOTENCY_KEY_REUSED",
  "cancel 202",
  "cancel NOT_CANCELLABLE",
  "completed",
  "cancelled",
  "EXPIRED",
  "POLICY_REJECTED",
  "WALLET_FROZEN",
  "INSUFFICIENT_FUNDS",
  "INSUFFICIENT_FEE_FUNDS",
  "EXECUTION_REVERTED",
  "DEPOSIT_REORGANISED",
  "kills",
  "outages",
  "rewinds",
  "rewinds with a rail",
  "lost ids",
];
/** A payment that is under way on the network, and not lost as a whole. */
const mustHappenSometimes = ["lost payouts"];

if (onlySeed > 0) describe("one seed", showOneSeed);
else {
  describe("the simulation", runAll);
  describe("a planted bug is caught", catchBugs);
}

function showOneSeed(): void {
  it(`keeps every promise: ${onlySeed}`, async () => {
    const report = await runSimulation(onlySeed, { trace: tell });
    tell(JSON.stringify(report, undefined, 2));
    expect(report.violations).toEqual([]);
  });
}

function runAll(): void {
  it(
    `keeps every promise, whatever goes wrong: ${seeds} seeds`,
    async () => {
      const tally = new Map<string, number>();
      for (let seed = 1; seed <= seeds; seed++) {
        const report = await runSimulation(seed);
        if (report.violations.length > 0) throw new Error(explain(report));
        for (const [what, count] of Object.entries(report.tally))
          tally.set(what, (tally.get(what) ?? 0) + count);
        if (seed % 1000 === 0) tell(`${seed} seeds: every promise was kept`);
      }
      if (seeds > 500) tell(JSON.stringify(Object.fromEntries([...tally].sort()), undefined, 2));
      // A run in which nothing goes wrong proves nothing: each of these has happened, and often.
      for (const what of mustHappen) expect(tally.get(what) ?? 0, what).toBeGreaterThan(seeds / 20);
      for (const what of mustHappenSometimes) expect(tally.get(what) ?? 0, what).toBeGreaterThan(seeds / 100);
    },
    timeoutMs,
  );

  it("does the same for the same seed, to the letter", async () => {
    for (let seed = 1; seed <= 20; seed++) {
      const traces: string[] = ["", ""];
      const reports: SimulationReport[] = [];
      for (const run of [0, 1])
        reports.push(
          await runSimulation(seed, {
            trace: (line) => {
              traces[run] += `${line}\n`;
            },
          }),
        );
      expect(traces[0]?.length).toBeGreaterThan(1000);
      expect(traces[1]).toBe(traces[0]);
      expect(reports[1]).toEqual(reports[0]);
    }
  });
}

function catchBugs(): void {
  it.each(plantedBugs)("$name: $breaks", async (bug) => {
    const { firstSeed = 1 } = bug;
    const last = firstSeed + (bug.needsRewind === true ? seedsForRewindBugs : seedsForBugs);
    for (let seed = firstSeed; seed < last; seed++) {
      if (bug.needsRewind === true && drawScenario(createRandom(seed)).rewindsMs.length === 0) continue;
      const { violations } = await runSimulation(seed, { bug });
      if (violations.length === 0) continue;
      tell(`${bug.name}: caught by seed ${seed}: ${violations[0]}`);
      return;
    }
    throw new Error(`the seeds from ${firstSeed} to ${last - 1} did not see it`);
  });
}
