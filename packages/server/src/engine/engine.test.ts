import { expect, it } from "vitest";
import { createEngine } from "./engine.js";

it("looks at everything now and then, also when the time of day was put back", async () => {
  const looks: (Date | undefined)[] = [];
  let nowMs = Date.UTC(2026, 0, 2);
  let elapsedMs = 0;
  await new Promise<void>((resolve) => {
    const engine = createEngine({
      settlements: {
        settle: async (_limit, acceptedFrom) => {
          looks.push(acceptedFrom);
          if (looks.length === 1) nowMs -= 3_600_000;
          if (looks.length === 20) void engine.stop().then(resolve);
          return [];
        },
      },
      wallets: { activateWallets: async () => 0 },
      rails: new Map(),
      onChanged: () => undefined,
      onError: (error) => {
        throw error;
      },
      nowMs: () => nowMs,
      elapsedMs: () => elapsedMs,
      timers: {
        after: (delayMs, work) => {
          nowMs += delayMs;
          elapsedMs += delayMs;
          queueMicrotask(work);
          return () => undefined;
        },
      },
    });
    engine.start();
  });
  const full = looks.flatMap((from, index) => (from === undefined ? [index] : []));
  expect(full).toEqual([0, 5, 10, 15]);
});
