import { describe, expect, it } from "vitest";
import { type KillLoopReport, runKillLoop } from "./kill-loop.js";

/** `npm run test:kill -- --times 1000` sets this; the short form is part of every run of the tests. */
const times = Number(process.env["BURSAR_KILLS"] ?? 0);
const timeoutMs = 120_000 + (times || 20) * 30_000;

/** A long run says how it went; the short form says it by passing. */
const tell = (victim: string, report: KillLoopReport) => {
  if (times > 0)
    process.stdout.write(`${victim}: ${JSON.stringify({ ...report, books: report.books.code })}\n`);
};

describe("kill -9 at random moments under load", () => {
  it.each([
    ["service", times || 20],
    ["postgres", times || 5],
  ] as const)(
    "of the %s, %i times: every 202 has exactly one final transaction",
    async (victim, kills) => {
      const report = await runKillLoop({ times: kills, victim });
      tell(victim, report);
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
