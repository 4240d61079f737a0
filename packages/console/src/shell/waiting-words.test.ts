import { expect, it } from "vitest";
import { waitingWords } from "./waiting-words";

it("a count that was cut says so, also to a screen reader and to an approver", () => {
  const cut = { count: 100, own: 100, isCut: true };
  for (const isApprover of [true, false])
    expect(waitingWords(cut, isApprover)).toEqual({ shown: "100+", said: "100 or more waiting" });
  expect(waitingWords({ ...cut, own: 37 }, true)).toEqual({ shown: "37+", said: "37 or more waiting" });
  // All that were counted are decided, and those that were not counted may not be.
  expect(waitingWords({ ...cut, own: 0 }, true)?.shown).toBe("100+");
});

it("a count of all is exact, and nothing is shown if nothing waits", () => {
  const all = { count: 100, own: 99, isCut: false };
  expect(waitingWords(all, false)).toEqual({ shown: "100", said: "100 waiting" });
  expect(waitingWords(all, true)).toEqual({ shown: "99", said: "99 waiting" });
  expect(waitingWords({ ...all, own: 0 }, true)).toBeUndefined();
  expect(waitingWords({ count: 0, own: 0, isCut: false }, false)).toBeUndefined();
});
