import { expect, it } from "vitest";
import type { UnsignedPayment } from "../../../app/chain/chain-store.js";
import { refusedInTurn } from "./sign-payments.js";

it("handles all refusals in turn, also if none of them ends and others begin", () => {
  const handledOf = (rounds: number, count: number) => {
    const refused = Array.from({ length: count }, (_, index) => ({ id: String(index).padStart(3, "0") }));
    const refusal = { refused: "FEE_ABOVE_LIMIT", reason: "The fee is above the limit." } as const;
    const all = refused.map((payment) => [payment as UnsignedPayment, refusal] as const);
    return refusedInTurn(
      rounds,
      all.map(([payment, one]) => [payment, one]),
    ).map(([{ id }]) => id);
  };
  const first = handledOf(0, 100);
  expect(first).toHaveLength(64);
  expect(new Set([...first, ...handledOf(1, 100)]).size).toBe(100);
  expect(handledOf(2, 10)).toHaveLength(10);
  expect(handledOf(3, 0)).toEqual([]);
  expect(handledOf(4, 3).toSorted()).toEqual(["000", "001", "002"]);
});
