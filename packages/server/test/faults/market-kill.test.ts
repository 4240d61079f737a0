import { expect, it } from "vitest";
import { runMarketKillLoop } from "./market-kill-loop.js";

/** `npm run test:kill -- --times 1000` sets this; the short form is part of every run of the tests. */
const times = Number(process.env["BURSAR_KILLS"] ?? 0);

it(
  "a market whose processes are killed under load is always the fold of its commands, and goes on in the other one",
  async () => {
    const report = await runMarketKillLoop(times || 3);
    if (times > 0) process.stdout.write(`market: ${JSON.stringify({ ...report, books: undefined })}\n`);
    expect(report.wrong).toEqual([]);
    expect(report.lost).toEqual([]);
    expect(report.violations).toEqual([]);
    expect(report.books[0]).toBe(report.books[1]);
    expect(report.owners).toBeGreaterThan(1);
    expect(report.trades).toBeGreaterThan(20);
  },
  240_000 + times * 30_000,
);
