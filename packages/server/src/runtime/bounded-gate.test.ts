import { expect, it } from "vitest";
import { createBoundedGate } from "./bounded-gate.js";

it("a bounded gate runs a few at once, lets some wait and refuses the rest", async () => {
  const gate = createBoundedGate(2, 3);
  const release: (() => void)[] = [];
  const work = () => new Promise<string>((resolve) => release.push(() => resolve("done")));
  const all = Array.from({ length: 8 }, () => gate.run(work));
  await Promise.resolve();
  await new Promise((resolve) => setImmediate(resolve));
  expect(release).toHaveLength(2);
  while (release.length > 0) {
    release.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
  const results = await Promise.all(all);
  expect(results.filter((result) => result === "done").length).toBeLessThanOrEqual(5);
  expect(results.filter((result) => result === "full").length).toBeGreaterThanOrEqual(3);
  expect(await createBoundedGate(1, 1).run(async () => 7)).toBe(7);
});
