import { expect, it } from "vitest";
import { readAuditFilters } from "./audit-filters";

it("times are read as people write them, in UTC, and anything else is left to the service", () => {
  const read = (text: string) => readAuditFilters({ occurred_after: text }).occurred_after;
  expect(["2026-11-17", "2026-11-17 19:26", "2026-11-17T19:26:05Z", "Nov 17"].map(read)).toEqual([
    "2026-11-17T00:00:00Z",
    "2026-11-17T19:26:00Z",
    "2026-11-17T19:26:05Z",
    "Nov 17",
  ]);
});
