import { setImmediate as turn } from "node:timers/promises";
import { expect, it } from "vitest";
import { createLeaseKeeper, type Lease } from "./lease.js";

/** A store that records what it is asked for, and answers a renewal when the test says so. */
function createScene() {
  const asked: string[] = [];
  const answers: ((isHeld: boolean) => void)[] = [];
  const keeper = createLeaseKeeper<Lease, undefined>({
    store: {
      acquire: async (_, holder) => [{ holder, fence: "1" }],
      renew: (leases) => {
        asked.push("renew");
        return new Promise((resolve, reject) => {
          answers.push((isHeld) => (isHeld ? resolve([...leases]) : reject(new Error("no database"))));
        });
      },
      release: async () => void asked.push("release"),
    },
    ...{ holder: "one", leaseMs: 1000, renewEveryMs: 250, nameOf: () => "it", monotonicMs: () => 0 },
  });
  return { keeper, asked, answers };
}

const lease: Lease = { holder: "one", fence: "1" };

it("has one renewal under way at a time", async () => {
  const { keeper, asked, answers } = createScene();
  const renewals = [1, 2, 3].map(() => keeper.renew([lease]));
  for (let begun = 1; begun <= 3; begun++) {
    await turn();
    expect(asked).toHaveLength(begun);
    answers.at(-1)?.(true);
  }
  expect((await Promise.all(renewals)).map(({ size }) => size)).toEqual([1, 1, 1]);
});

it("renews after a renewal that has failed", async () => {
  const { keeper, asked, answers } = createScene();
  const failed = keeper.renew([lease]).catch((error: Error) => error.message);
  const next = keeper.renew([lease]);
  answers[0]?.(false);
  expect(await failed).toBe("no database");
  await turn();
  expect(asked).toHaveLength(2);
  answers[1]?.(true);
  expect((await next).size).toBe(1);
});

it("releases after the renewal that is under way", async () => {
  const { keeper, asked, answers } = createScene();
  const renewal = keeper.renew([lease]);
  const release = keeper.release([lease]);
  await turn();
  expect(asked).toEqual(["renew"]);
  answers[0]?.(true);
  await Promise.all([renewal, release]);
  expect(asked).toEqual(["renew", "release"]);
  expect(keeper.isHeld(lease)).toBe(false);
});
