import { expect, it } from "vitest";
import type { Exchange } from "../http/send.js";
import { deriveFromRun } from "./derive-from-run.js";
import type { Session } from "./session.js";

const exchangeOf = (index: number, isPending = false) =>
  ({ index, ...(isPending ? { isPending } : {}) }) as Exchange;

it("looks at an exchange once when it is finished, and again as long as it is not", () => {
  const looked: number[] = [];
  const indexes = deriveFromRun(({ index, isPending }) => {
    looked.push(index);
    return isPending === true ? [] : [index];
  });
  const session = { exchanges: [exchangeOf(0), exchangeOf(1, true), exchangeOf(2)] } as unknown as Session;
  expect(indexes(session)).toEqual([0, 2]);
  session.exchanges[1] = exchangeOf(1);
  session.exchanges.push(exchangeOf(3));
  expect(indexes(session)).toEqual([0, 1, 2, 3]);
  expect(indexes(session)).toEqual([0, 1, 2, 3]);
  expect(looked).toEqual([0, 1, 2, 1, 2, 3]);
});
