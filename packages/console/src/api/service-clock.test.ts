import { expect, it } from "vitest";
import { createServiceClock } from "./service-clock";

const noon = Date.parse("2026-11-19T12:00:00Z");
const said = new Headers({ Date: new Date(noon).toUTCString() });

it("the time is that of the service, however wrong the computer's is, and also after the computer's is set", () => {
  let localMs = noon + 31 * 86_400_000;
  const clock = createServiceClock(() => localMs);
  expect([clock.nowMs(), clock.isKnown()]).toEqual([localMs, false]);
  clock.note(said);
  localMs += 2500;
  expect([clock.nowMs(), clock.isKnown()]).toEqual([noon + 2500, true]);
  localMs = noon - 3_600_000;
  clock.note(said);
  expect(clock.nowMs()).toBe(noon);
});

it("a response that says no time changes nothing", () => {
  const clock = createServiceClock(() => 1000);
  for (const headers of [new Headers(), new Headers({ Date: "yesterday" })]) clock.note(headers);
  expect([clock.nowMs(), clock.isKnown()]).toEqual([1000, false]);
});
