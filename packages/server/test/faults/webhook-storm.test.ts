import { describe, expect, it } from "vitest";
import { runWebhookStorm } from "./webhook-storm.js";

/** Short and long sizes are in tools/proofs/proofs.mjs. */
const deliveries = Number(process.env["BURSAR_STORM_DELIVERIES"]);
const endpoints = Number(process.env["BURSAR_STORM_ENDPOINTS"]);
const kills = Number(process.env["BURSAR_STORM_KILLS"]);
const isLong = process.env["BURSAR_PROOF_FORM"] === "long";
const seed = Number(process.env["BURSAR_STORM_SEED"] ?? Date.now() % 1_000_000);

describe("webhooks to receivers that fail at random, from a service that is killed", () => {
  it(
    "arrive at every endpoint, verified, and are repeated only if the outcome was unknown",
    async () => {
      const report = await runWebhookStorm({ deliveries, endpoints, kills, seed });
      if (isLong) process.stdout.write(`${JSON.stringify(report)}\n`);
      expect(report).toMatchObject({
        settled: report.expected,
        unverified: [],
        malformed: [],
        inconsistent: [],
        needlessRepeats: [],
        exhausted: 0,
      });
      expect(report.requests).toBeGreaterThan(report.expected);
    },
    300_000 + deliveries * 50,
  );
});
