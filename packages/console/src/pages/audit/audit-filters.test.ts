import { expect, it } from "vitest";
import { readAuditFilters, timeFaults, toAuditQuery } from "./audit-filters";

it("times are read as people write them, in UTC, and anything else is left to the service", () => {
  const read = (text: string) => readAuditFilters({ occurred_after: text }).occurred_after;
  expect(["2026-11-17", "2026-11-17 19:26", "2026-11-17T19:26:05Z", "Nov 17"].map(read)).toEqual([
    "2026-11-17T00:00:00Z",
    "2026-11-17T19:26:00Z",
    "2026-11-17T19:26:05Z",
    "Nov 17",
  ]);
});

it("a day that ends a range is in the range, and what was read once stays as it is", () => {
  const read = (text: string) => readAuditFilters({ occurred_before: text }).occurred_before ?? "";
  expect(["2026-12-31", "2026-12-31 10:00", "2026-13-31"].map(read)).toEqual([
    "2027-01-01T00:00:00Z",
    "2026-12-31T10:00:00Z",
    "2026-13-31",
  ]);
  expect(read(read("2026-12-31"))).toBe("2027-01-01T00:00:00Z");
});

it("a time that cannot be one is a fault of its field", () => {
  const faults = (occurred_after: string) => Object.keys(timeFaults(readAuditFilters({ occurred_after })));
  expect(["2026-11-17", "2026-11-17 19:26", "Nov 17", "2026-11-31", "2026-11-17 25:00"].map(faults)).toEqual([
    [],
    [],
    ["occurred_after"],
    ["occurred_after"],
    ["occurred_after"],
  ]);
  expect(timeFaults({ actor: "client", occurred_before: "2026-13-31" })).toHaveProperty("occurred_before");
});

it("an action that is not written in full stands for all that begin so", () => {
  const asked = (action: string) => toAuditQuery({ action }).action;
  expect(["session", "session.", "session.end", "GET /v1/clients", "pol*"].map(asked)).toEqual([
    "session*",
    "session.*",
    "session.end",
    "GET /v1/clients",
    "pol*",
  ]);
  // What was refused is found by the name under which it is shown.
  expect(["policy", "policy.replace", "transaction.reject"].map(asked)).toEqual([
    "policy*,PUT /v1/policy",
    "policy.replace,PUT /v1/policy",
    "transaction.reject,POST /v1/transactions/:id/approvals",
  ]);
  expect(toAuditQuery({ outcome: "refused" })).toEqual({ outcome: "refused" });
});
