import { rmSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createTemporaryFolder } from "../../harness/temporary-folder.js";
import { type FailoverReport, runFailoverLoop } from "./failover-loop.js";
import { type PostgresPair, startPostgresPair } from "./postgres-pair.js";

/** Short and long sizes are in tools/proofs/proofs.mjs. */
const synchronous = Number(process.env["BURSAR_FAILOVERS"]);
const asynchronous = Number(process.env["BURSAR_LOSSY_FAILOVERS"]);
const isLong = process.env["BURSAR_PROOF_FORM"] === "long";
const timeoutOf = (times: number) => 300_000 + times * 120_000;

describe("two processes whose primary is killed and replaced by its standby under load", () => {
  let folder: string;
  let pair: PostgresPair | undefined;
  beforeEach(() => {
    folder = createTemporaryFolder("failover");
  });
  afterEach(async () => {
    await pair?.stop();
    pair = undefined;
    rmSync(folder, { recursive: true, force: true });
  });

  const run = async (times: number, isSynchronous: boolean): Promise<FailoverReport> => {
    pair = await startPostgresPair(folder);
    const onFailover = (count: number, outageMs: number) =>
      void (isLong && process.stdout.write(`failover ${count} of ${times}: ${outageMs} ms\n`));
    const report = await runFailoverLoop(pair, { times, isSynchronous, onFailover });
    const counts = { doubled: report.doubled.length, lost: report.lost.length };
    if (isLong) process.stdout.write(`${JSON.stringify({ ...report, ...counts })}\n`);
    return report;
  };
  const nothing = (times: number) => Array.from({ length: times }, () => []);

  it(
    `have done every acknowledged request exactly once, ${synchronous} times, if the standby is synchronous`,
    async () => {
      const report = await run(synchronous, true);
      expect(report.lost).toEqual([]);
      expect(report.doubled).toEqual([]);
      expect(report.differences).toEqual(nothing(synchronous));
      expect(report.faults).toEqual([]);
      expect(report.violations).toEqual([]);
      expect(report.marketIsRight).toBe(true);
    },
    timeoutOf(synchronous),
  );

  it(
    `show nothing that the database does not have, ${asynchronous} times, if commits are lost`,
    async () => {
      const report = await run(asynchronous, false);
      expect(report.lost.length).toBeGreaterThan(0);
      expect(report.ghosts).toEqual([]);
      expect(report.differences).toEqual(nothing(asynchronous));
      expect(report.faults).toEqual([]);
      expect(report.violations).toEqual([]);
      expect(report.marketIsRight).toBe(true);
    },
    timeoutOf(asynchronous),
  );
});
