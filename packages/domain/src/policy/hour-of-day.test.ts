import { assert, constantFrom, integer, property } from "fast-check";
import { describe, expect, it } from "vitest";
import { createTimeZones } from "./hour-of-day.js";

const findZone = createTimeZones();

describe("the hour of the day", () => {
  it.each([
    ["UTC", "2026-07-01T00:00:00Z", 0],
    ["UTC", "2026-07-01T23:59:59.999Z", 23],
    ["Asia/Kathmandu", "2026-07-01T18:14:59Z", 23],
    ["Asia/Kathmandu", "2026-07-01T18:15:00Z", 0],
    ["Europe/Berlin", "2026-03-29T00:59:59Z", 1],
    ["Europe/Berlin", "2026-03-29T01:00:00Z", 3],
    ["Europe/Berlin", "2026-10-25T00:59:59Z", 2],
    ["Europe/Berlin", "2026-10-25T01:00:00Z", 2],
    ["Australia/Lord_Howe", "2026-10-03T15:29:59Z", 1],
    ["Australia/Lord_Howe", "2026-10-03T15:30:00Z", 2],
  ])("in %s at %s is %i", (zone, time, hour) => {
    expect(findZone(zone)?.(Date.parse(time))).toBe(hour);
  });

  it("does not depend on earlier calls", () =>
    assert(
      property(
        constantFrom("Asia/Kathmandu", "Europe/Berlin", "America/St_Johns", "Pacific/Chatham", "Etc/GMT+12"),
        integer({ min: Date.UTC(1972, 1), max: Date.UTC(2100, 1) }),
        integer({ min: -200_000, max: 200_000 }),
        (zone, timeMs, stepMs) => {
          const hourAt = findZone(zone);
          const fresh = (ms: number) =>
            new Date(ms).toLocaleTimeString("en-GB", { timeZone: zone }).slice(0, 2);
          return [timeMs, timeMs + stepMs, timeMs].every((ms) => hourAt?.(ms) === Number(fresh(ms)));
        },
      ),
    ));

  it("is found regardless of the case of the zone, and cached per zone", () => {
    expect(findZone("europe/BERLIN")).toBe(findZone("Europe/Berlin"));
  });

  it.each(["", "Mars/Base", "+01:00", "-05", "Europe/Berlin\n", " UTC", "__proto__", "a".repeat(100_000)])(
    "is not known in %.20j",
    (zone) => {
      expect(findZone(zone)).toBeUndefined();
    },
  );
});
