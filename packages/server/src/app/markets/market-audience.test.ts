import { expect, it } from "vitest";
import { createMarketAudience } from "./market-audience.js";

it("an audience is present for a minute after a request, and for as long as a stream follows", () => {
  let nowMs = 0;
  let returns = 0;
  const audience = createMarketAudience(() => nowMs);
  audience.onReturn(() => {
    returns += 1;
  });
  expect(audience.isPresent()).toBe(false);
  audience.noteRequest();
  nowMs += 59_000;
  audience.noteRequest();
  expect([audience.isPresent(), returns]).toEqual([true, 1]);
  nowMs += 60_000;
  expect(audience.isPresent()).toBe(false);
  const leave = audience.follow();
  nowMs += 600_000;
  audience.noteRequest();
  expect([audience.isPresent(), returns]).toEqual([true, 2]);
  leave();
  leave();
  nowMs += 59_999;
  expect(audience.isPresent()).toBe(true);
  nowMs += 1;
  expect(audience.isPresent()).toBe(false);
});
