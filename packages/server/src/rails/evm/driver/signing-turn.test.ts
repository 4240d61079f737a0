import { expect, it } from "vitest";
import { createSigningTurn, pageAfter, turnPage } from "./signing-turn.js";

const pageMax = 4;
const idOf = (number: number) => String(number).padStart(6, "0");

/** Steps in which as many new payments come as are signed. Those in `refused` are asked for again and again. */
function openSigning(refused: number) {
  const turn = createSigningTurn();
  const waiting = new Set(Array.from({ length: refused }, (_, index) => idOf(index)));
  let next = 1000;
  return {
    waiting,
    turn,
    step: (added: number) => {
      for (let payment = 0; payment < added; payment++) waiting.add(idOf(next++));
      const page = [...waiting]
        .filter((id) => id > (pageAfter(turn) ?? ""))
        .sort()
        .slice(0, pageMax);
      turnPage(turn, page, page.length === pageMax);
      for (const id of page) if (Number(id) >= refused) waiting.delete(id);
    },
  };
}

it.each([0, 3, 4, 9, 40])(
  "an earlier payment has its turn while each page is full, beside %i that are refused",
  (refused) => {
    const { waiting, step } = openSigning(refused);
    for (let steps = 0; steps < 50; steps++) step(pageMax);
    waiting.add(idOf(500));
    let steps = 0;
    for (; waiting.has(idOf(500)) && steps < 1000; steps++) step(pageMax);
    expect(steps).toBeLessThanOrEqual(2 * (refused / pageMax + 2));
  },
);

it("a round ends with a page that is not full, and nothing is left out of it", () => {
  const { waiting, step, turn } = openSigning(9);
  for (let steps = 0; steps < 20; steps++) step(1);
  expect(turn.rounds).toBeGreaterThan(1);
  expect([...waiting].filter((id) => Number(id) >= 1000).length).toBeLessThan(10);
});
