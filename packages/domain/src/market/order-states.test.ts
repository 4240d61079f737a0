import { describe, expect, it } from "vitest";
import { type OrderState, orderEvents, orderStates, orderTransitions } from "./order-states.js";

const states = Object.keys(orderStates) as OrderState[];

describe("the table of an order's states", () => {
  it("has these transitions, and no others", () => {
    const walked = states.flatMap((state) =>
      orderEvents.flatMap((event) => {
        const next = orderTransitions[state][event];
        return next === undefined ? [] : [`${state} ${event} ${next}`];
      }),
    );
    expect(walked).toEqual([
      "pending rest open",
      "pending fill_part partially_filled",
      "pending fill filled",
      "pending cancel cancelled",
      "pending reject rejected",
      "open fill_part partially_filled",
      "open fill filled",
      "open amend open",
      "open cancel cancelled",
      "partially_filled rest partially_filled",
      "partially_filled fill_part partially_filled",
      "partially_filled fill filled",
      "partially_filled amend partially_filled",
      "partially_filled cancel cancelled",
    ]);
  });

  it("allows no event in a final state, and has a way out of every other", () => {
    for (const state of states)
      expect(Object.keys(orderTransitions[state]).length === 0).toBe(orderStates[state].final);
  });
});
