import { expect, it } from "vitest";
import type { UnsignedPayment } from "../../../app/chain/chain-store.js";
import { refusedInTurn } from "./sign-payments.js";

it("handles all refusals in turn, also if none of them ends and others begin", () => {
  const turn = { afterId: "" };
  const handledOf = (count: number) => {
    const refused = Array.from({ length: count }, (_, index) => ({ id: String(index).padStart(3, "0") }));
    const refusal = { refused: "FEE_ABOVE_LIMIT", reason: "The fee is above the limit." } as const;
    const all = refused.map((payment) => [payment as UnsignedPayment, refusal] as const);
    return refusedInTurn(
      turn,
      all.map(([payment, one]) => [payment, one]),
    ).map(([{ id }]) => id);
  };
  const first = handledOf(100);
  expect(first).toHaveLength(64);
  expect(new Set([...first, ...handledOf(100)]).size).toBe(100);
  expect(handledOf(10)).toHaveLength(10);
  expect(handledOf(0)).toEqual([]);
  expect(handledOf(3)).toEqual(["000", "001", "002"]);
});
