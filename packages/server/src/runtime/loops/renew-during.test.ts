import { setImmediate as turn } from "node:timers/promises";
import { expect, it } from "vitest";
import { createRenewalDuring } from "./renew-during.js";

/** A clock that a test sets, and a lease whose renewals it counts. */
function createScene(renew: () => Promise<void> = async () => undefined) {
  let nowMs = 0;
  let renewals = 0;
  const due: { atMs: number; work: () => void }[] = [];
  const renewal = createRenewalDuring({
    renew: () => {
      renewals += 1;
      return renew();
    },
    ...{ everyMs: 1000, hungAfterMs: 5000, monotonicMs: () => nowMs },
    timers: {
      after: (delayMs, work) => {
        const timer = { atMs: nowMs + delayMs, work };
        due.push(timer);
        return () => void due.splice(0, due.length, ...due.filter((one) => one !== timer));
      },
    },
  });
  return {
    renewal,
    renewals: () => renewals,
    timers: () => due.length,
    pass: async (seconds: number) => {
      for (const endMs = nowMs + seconds * 1000; nowMs < endMs; ) {
        nowMs += 1000;
        for (const timer of due.splice(0)) timer.atMs <= nowMs ? timer.work() : due.push(timer);
        await turn();
      }
    },
  };
}

it("renews while a step runs, and not after it", async () => {
  const { renewal, renewals, timers, pass } = createScene();
  let end: (value: string) => void = () => undefined;
  const step = renewal.during(
    () =>
      new Promise<string>((resolve) => {
        end = resolve;
      }),
  );
  await pass(3);
  expect(renewals()).toBe(3);
  end("done");
  expect(await step).toBe("done");
  expect(timers()).toBe(0);
  await pass(3);
  expect(renewals()).toBe(3);
});

it("leaves the lease of a step that hangs, and counts from where it last got on", async () => {
  const { renewal, renewals, pass } = createScene();
  void renewal.during(() => new Promise(() => undefined));
  await pass(3);
  renewal.noteProgress();
  await pass(20);
  expect(renewals()).toBe(7);
  renewal.noteProgress();
  await pass(1);
  expect(renewals()).toBe(8);
});

it("renews again after a failure, and leaves the step its own result", async () => {
  const { renewal, renewals, pass } = createScene(() => Promise.reject(new Error("no database")));
  let fail: (error: Error) => void = () => undefined;
  const step = renewal.during(
    () =>
      new Promise<void>((_, reject) => {
        fail = reject;
      }),
  );
  await pass(2);
  expect(renewals()).toBe(2);
  fail(new Error("the step's own"));
  await expect(step).rejects.toThrow("the step's own");
});

it("ends when no renewal is under way any more, so that none follows the release", async () => {
  let renewed: () => void = () => undefined;
  const { renewal, pass } = createScene(
    () =>
      new Promise((resolve) => {
        renewed = resolve;
      }),
  );
  let end: () => void = () => undefined;
  let isOver = false;
  const step = renewal
    .during(
      () =>
        new Promise<void>((resolve) => {
          end = resolve;
        }),
    )
    .then(() => {
      isOver = true;
    });
  await pass(1);
  end();
  await turn();
  expect(isOver).toBe(false);
  renewed();
  await step;
  expect(isOver).toBe(true);
});
