import { describe, expect, it } from "vitest";
import { runWebhookStorm } from "./webhook-storm.js";

/** `npm run test:webhooks -- --deliveries 50000 --endpoints 100` sets these; the short form is part of every run of the tests. */
const deliveries = Number(process.env["BURSAR_STORM_DELIVERIES"] ?? 0);
const endpoints = Number(process.env["BURSAR_STORM_ENDPOINTS"] ?? 20);
const kills = Number(process.env["BURSAR_STORM_KILLS"] ?? 1);
const seed = Number(process.env["BURSAR_STORM_SEED"] ?? Date.now() % 1_000_000);

describe("webhooks to receivers that fail at random, from a service that is killed", () => {
  it(
    "arrive at every endpoint, verified, and again only where the outcome was unknown",
    async () => {
      const report = await runWebhookStorm({ deliveries: deliveries || 1000, endpoints, kills, seed });
      if (deliveries > 0) process.stdout.write(`${JSON.stringify(report)}\n`);
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
    180_000 + deliveries * 50,
  );
});
