import { describe, expect, it } from "vitest";
import { type KillLoopReport, runKillLoop } from "./kill-loop.js";

/** Short and long sizes are in tools/proofs/proofs.mjs. */
const serviceKills = Number(process.env["BURSAR_KILLS"]);
const postgresKills = Number(process.env["BURSAR_POSTGRES_KILLS"]);
const isLong = process.env["BURSAR_PROOF_FORM"] === "long";
const timeoutMs = 300_000 + Math.max(serviceKills, postgresKills) * 30_000;

const print = (victim: string, report: KillLoopReport) => {
  if (isLong) process.stdout.write(`${victim}: ${JSON.stringify({ ...report, books: report.books.code })}\n`);
};

describe("kill -9 at random moments under load", () => {
  it.each([
    ["service", serviceKills],
    ["postgres", postgresKills],
  ] as const)(
    "of the %s, %i times: every 202 has exactly one final transaction",
    async (victim, kills) => {
      const report = await runKillLoop({ times: kills, victim });
      print(victim, report);
      expect(report.contradicted).toEqual([]);
      expect(report.lost).toEqual([]);
      expect(report.found).toBe(report.sent);
      expect(report.acknowledged).toBe(report.sent);
      expect(report.books).toMatchObject({ code: 0 });
      expect(report.sent).toBeGreaterThan(100);
    },
    timeoutMs,
  );
});
