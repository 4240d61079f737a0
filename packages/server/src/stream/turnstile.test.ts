import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { createTurnstile } from "./turnstile.js";

it("a turnstile lets in so many at once, in order, also after a failure", async () => {
  const turnstile = createTurnstile(2);
  const begun: number[] = [];
  let inside = 0;
  let most = 0;
  const results = await Promise.allSettled(
    [0, 1, 2, 3, 4, 5].map((number) =>
      turnstile(async () => {
        begun.push(number);
        most = Math.max(most, ++inside);
        await sleep(5);
        inside -= 1;
        if (number === 1) throw new Error("one fails");
        return number;
      }),
    ),
  );
  expect(begun).toEqual([0, 1, 2, 3, 4, 5]);
  expect(most).toBe(2);
  expect(results.filter(({ status }) => status === "rejected")).toHaveLength(1);
});
