import { expect, it } from "vitest";
import { runMarketKillLoop } from "./market-kill-loop.js";

/** Short and long sizes are in tools/proofs/proofs.mjs. */
const times = Number(process.env["BURSAR_MARKET_KILLS"]);
const isLong = process.env["BURSAR_PROOF_FORM"] === "long";

it(
  "a market whose processes are killed under load always equals the fold of its commands and continues in the other process",
  async () => {
    const report = await runMarketKillLoop(times);
    if (isLong) process.stdout.write(`market: ${JSON.stringify({ ...report, books: undefined })}\n`);
    expect(report.wrong).toEqual([]);
    expect(report.lost).toEqual([]);
    expect(report.violations).toEqual([]);
    expect(report.books[0]).toBe(report.books[1]);
    expect(report.owners).toBeGreaterThan(1);
    expect(report.trades).toBeGreaterThan(20);
  },
  300_000 + times * 30_000,
);
