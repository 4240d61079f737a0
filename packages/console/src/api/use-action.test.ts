import { expect, it } from "vitest";
import { createStartGuard } from "./use-action";

it("starts once for each content at a time", () => {
  const guard = createStartGuard(() => 0);
  expect([guard.begin("a"), guard.begin("a"), guard.begin("b"), guard.begin("a")]).toEqual([
    true,
    false,
    true,
    false,
  ]);
});

it("starts again at once after a failure, and after a success when a double click has ended", () => {
  let atMs = 0;
  const guard = createStartGuard(() => atMs);
  guard.begin("a");
  guard.end("a", false);
  expect(guard.begin("a")).toBe(true);
  guard.end("a", true);
  expect(guard.begin("a")).toBe(false);
  atMs = 499;
  expect(guard.begin("a")).toBe(false);
  atMs = 500;
  expect(guard.begin("a")).toBe(true);
  atMs = 60_000;
  expect(guard.begin("a")).toBe(false);
});
