import { describe, expect, it } from "vitest";
import { createDatabaseConfirmer } from "./confirm-database.js";
import { createDatabaseIdentity } from "./database-identity.js";

/** A database that answers when the test says so. */
function patient() {
  const clock = { ms: 1000 };
  const identity = createDatabaseIdentity(undefined, () => clock.ms);
  const asked: { answer: () => void; fail: () => void }[] = [];
  const confirm = createDatabaseConfirmer({
    identity,
    ask: () => {
      const askedMs = clock.ms;
      return new Promise<void>((resolve, reject) => {
        asked.push({
          answer: () => {
            identity.answered(askedMs);
            resolve();
          },
          fail: () => reject(new Error("unavailable")),
        });
      });
    },
    monotonicMs: () => clock.ms,
  });
  return { clock, asked, confirm };
}

describe("confirming which database it is", () => {
  it("asks once for all who wait", async () => {
    const { asked, confirm } = patient();
    const confirmed = Promise.all([confirm(), confirm(), confirm()]);
    asked[0]?.answer();
    expect(await confirmed).toEqual([true, true, true]);
    expect(asked).toHaveLength(1);
  });

  it("asks again for one who came long after the question that is on its way", async () => {
    const { clock, asked, confirm } = patient();
    const first = confirm();
    clock.ms += 200;
    const second = confirm();
    const third = confirm();
    asked[0]?.answer();
    expect(await first).toBe(true);
    expect(asked).toHaveLength(2);
    asked[1]?.answer();
    expect(await Promise.all([second, third])).toEqual([true, true]);
    expect(asked).toHaveLength(2);
  });

  it("fails for all who wait if the database does not answer, and asks again for the next", async () => {
    const { asked, confirm } = patient();
    const failed = Promise.all([confirm(), confirm()]);
    asked[0]?.fail();
    expect(await failed).toEqual([false, false]);
    const next = confirm();
    asked[1]?.answer();
    expect(await next).toBe(true);
  });
});
