import type { Transaction } from "@bursar/client";
import { expect, it } from "vitest";
import { knownAsset, matches, readFilters, timeFaults, toQuery } from "./filters";

it("an asset is found in any case, and one that is unknown stays as it was typed", () => {
  const codes = ["USD", "ETH.DEV", "usd"];
  expect(knownAsset("eth.dev", codes)).toBe("ETH.DEV");
  expect(knownAsset("usd", codes)).toBe("usd");
  expect(knownAsset("Usd", codes)).toBe("USD");
  expect(knownAsset("EUR", codes)).toBe("EUR");
});

it("days in the address are whole days of UTC, for the service and for what comes live", () => {
  const filters = readFilters({ from: "2026-11-17", until: "2026-11-18" });
  expect(toQuery(filters)).toEqual({
    created_after: "2026-11-17T00:00:00Z",
    created_before: "2026-11-19T00:00:00Z",
  });
  // The address keeps what was read, and reads it the same again.
  expect(readFilters({ ...filters })).toEqual(filters);
  const created = (created_at: string) =>
    matches({ created_at, source: null, destination: { address: "a" } } as Transaction, filters);
  expect(
    [
      "2026-11-16T23:59:59.999Z",
      "2026-11-17T00:00:00.000Z",
      "2026-11-18T23:59:59.999Z",
      "2026-11-19T00:00:00.000Z",
    ].map(created),
  ).toEqual([false, true, true, false]);
});

it("a time that cannot be one is a fault of its field", () => {
  expect(Object.keys(timeFaults(readFilters({ from: "2026-11-31", until: "yesterday" })))).toEqual([
    "from",
    "until",
  ]);
  expect(timeFaults(readFilters({ from: "2026-11-17 19:26" }))).toEqual({});
});
