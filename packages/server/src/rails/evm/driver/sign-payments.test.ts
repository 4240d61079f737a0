import { expect, it } from "vitest";
import type { UnsignedPayment } from "../../../app/chain/chain-store.js";
import { refusedInTurn } from "./sign-payments.js";
import { createSigningTurn, lookOf, pageAfter, turnPage } from "./signing-turn.js";

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

it.each([
  [200, 256],
  [256, 256],
  [300, 256],
  [256, 0],
  [300, 0],
  [600, 0],
  [1100, 3],
])("handles each of %i refusals while %i new payments come in each step", (count, addedMax) => {
  const pageMax = 256;
  const turn = createSigningTurn();
  const idOf = (number: number) => String(number).padStart(8, "0");
  const refused = Array.from({ length: count }, (_, index) => idOf(index));
  const refusal = { refused: "FEE_ABOVE_LIMIT", reason: "The fee is above the limit." } as const;
  const handled = new Set<string>();
  let fresh: string[] = [];
  for (let step = 0, next = 100_000; step < 120; step++) {
    for (let added = 0; added < addedMax; added++) fresh.push(idOf(next++));
    const look = lookOf(turn);
    const after = pageAfter(turn) ?? "";
    const page = [...refused, ...fresh].filter((id) => id > after).slice(0, pageMax);
    turnPage(turn, page, page.length === pageMax);
    const again = page.filter((id) => Number(id) < count);
    for (const [{ id }] of refusedInTurn(
      look,
      again.map((id) => [{ id } as UnsignedPayment, refusal]),
    ))
      handled.add(id);
    const signed = new Set(page);
    fresh = fresh.filter((id) => !signed.has(id));
  }
  expect(handled.size).toBe(count);
});
