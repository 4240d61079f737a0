import { expect, it } from "vitest";
import { runSoak } from "./soak-run.js";

/** Short and long sizes are in tools/proofs/proofs.mjs. */
const seconds = Number(process.env["BURSAR_SOAK_SECONDS"]);
const isLong = process.env["BURSAR_PROOF_FORM"] === "long";
const idleSeconds = isLong ? 30 : 3;

/** Clients and the pool open and close connections all the time, so that a sample can have some more than another. */
const descriptorsSlack = 12;
const connectionsSlack = 3;
/** A heap that is collected twice still differs by what was in progress. */
const heapGrowthMax = 1.1;

it(
  `two processes under load for ${seconds} s use no more at the end than in the beginning`,
  async () => {
    const report = await runSoak(seconds, idleSeconds);
    if (isLong) process.stdout.write(`soak: ${JSON.stringify(report, null, 2)}\n`);
    const { first, last } = report;
    expect(report.answers).toBeGreaterThan(seconds);
    expect(last.connections).toBeLessThanOrEqual(first.connections + connectionsSlack);
    expect(last.descriptors).toBeLessThanOrEqual(first.descriptors + descriptorsSlack);
    expect(last.handles).toBeLessThanOrEqual(first.handles + descriptorsSlack);
    // In a short time the caches have not filled yet.
    if (isLong) {
      expect(last.heapBytes).toBeLessThanOrEqual(first.heapBytes * heapGrowthMax);
      expect(last.externalBytes).toBeLessThanOrEqual(first.externalBytes * heapGrowthMax + 1_000_000);
    }
  },
  300_000 + seconds * 2000,
);
