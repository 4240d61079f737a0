import { describe, expect, it } from "vitest";
import { createLoadShedder } from "./load-shedder.js";

function createWorld() {
  let nowMs = 0;
  const state = { isOverloaded: true, isSevere: false, eventLoopDelayMs: 0 };
  const shedder = createLoadShedder({
    load: { reading: () => ({ ...state, acceptWaitMs: 0 }) },
    monotonicMs: () => nowMs,
  });
  return {
    ...shedder,
    state,
    pass: (ms: number) => {
      nowMs += ms;
    },
  };
}

describe("an overloaded service", () => {
  it("refuses the tenant that uses most, and not its neighbours", () => {
    const { count, sheds } = createWorld();
    count("greedy", 1000);
    for (const tenant of ["a", "b", "c"]) count(tenant, 50);
    expect(["greedy", "a", "b", "c", "new"].map(sheds)).toEqual([true, false, false, false, false]);
  });

  it("refuses everybody if that is not enough", () => {
    const { count, sheds, state } = createWorld();
    count("greedy", 1000);
    count("a", 1);
    state.isSevere = true;
    expect(["greedy", "a", "new"].map(sheds)).toEqual([true, true, true]);
  });

  it("refuses who makes most requests also while the deliveries of another tenant cost far more", () => {
    const { count, countDelivery, sheds } = createWorld();
    countDelivery("receiver", 30_000);
    count("receiver", 1);
    count("greedy", 1000);
    count("a", 50);
    expect(["receiver", "greedy", "a", "new"].map(sheds)).toEqual([true, true, false, false]);
  });

  it.each([0, 10, 60, 5000])("leaves a tenant alone that uses little, beside %d that use less", (small) => {
    const { count, sheds, restPerWork } = createWorld();
    count("greedy", 500);
    count("victim", 10);
    for (let tenant = 0; tenant < small; tenant++) count(`small ${tenant}`, 0.02);
    expect([sheds("greedy"), sheds("victim"), restPerWork("victim")]).toEqual([true, false, 0]);
  });

  it("refuses all tenants among whom somebody divides a load, and not who uses less than each of them", () => {
    const { count, sheds } = createWorld();
    const divided = Array.from({ length: 12 }, (_, number) => `divided ${number}`);
    for (const tenant of divided) count(tenant, 50);
    for (let tenant = 0; tenant < 40; tenant++) count(`idle ${tenant}`, 1);
    count("victim", 20);
    expect([divided.every(sheds), sheds("victim")]).toEqual([true, false]);
  });

  it("lets nobody rest because of the deliveries of somebody else", () => {
    const { count, countDelivery, restPerWork } = createWorld();
    count("greedy", 2);
    countDelivery("greedy", 500);
    count("reader", 1);
    count("victim", 4);
    expect([restPerWork("greedy"), restPerWork("victim")]).toEqual([1, 0]);
  });

  it("refuses its only tenant", () => {
    const { count, sheds } = createWorld();
    count("only", 3);
    expect(sheds("only")).toBe(true);
  });

  it("forgets what a tenant used some time ago", () => {
    const { count, sheds, pass } = createWorld();
    count("greedy", 1000);
    for (let second = 0; second < 60; second++) {
      pass(1000);
      count("steady", 20);
    }
    expect(["greedy", "steady"].map(sheds)).toEqual([false, true]);
  });

  it("refuses at least one of tenants with the same use", () => {
    const { count, sheds, pass } = createWorld();
    const tenants = Array.from({ length: 7 }, (_, number) => `tenant ${number}`);
    for (let round = 0; round < 50; round++) {
      pass(333);
      for (const tenant of tenants) count(tenant, 0.1);
    }
    expect(tenants.map(sheds)).toContain(true);
  });

  it("refuses nobody when it is not overloaded", () => {
    const { count, sheds, state } = createWorld();
    count("greedy", 1000);
    state.isOverloaded = false;
    expect(sheds("greedy")).toBe(false);
  });
});

describe("work in the background", () => {
  it("rests only while other tenants make requests", () => {
    const { count, countDelivery, restPerWork, pass } = createWorld();
    count("a", 1);
    for (const tenant of ["a", "b", "c"]) countDelivery(tenant, 10);
    expect([restPerWork("a"), restPerWork("b")]).toEqual([0, 1]);
    count("b", 1);
    expect([restPerWork("a"), restPerWork("b")]).toEqual([1, 1]);
    pass(400);
    count("b", 1);
    expect([restPerWork("a"), restPerWork("b")]).toEqual([1, 1]);
    pass(400);
    expect([restPerWork("a"), restPerWork("b")]).toEqual([1, 0]);
    pass(400);
    expect([restPerWork("a"), restPerWork("b")]).toEqual([0, 0]);
  });

  it("rests longer the later the event loop is, up to a bound", () => {
    const { count, countDelivery, restPerWork, state } = createWorld();
    count("a", 1);
    countDelivery("b", 1);
    state.eventLoopDelayMs = 4;
    expect(restPerWork("b")).toBe(5);
    state.eventLoopDelayMs = 500;
    expect(restPerWork("b")).toBe(8);
  });

  it("never rests for a tenant that uses less than the others, so that nobody delays the deliveries of somebody else", () => {
    const { count, countDelivery, restPerWork, state } = createWorld();
    state.eventLoopDelayMs = 500;
    count("attacker", 100);
    count("victim", 10);
    countDelivery("victim", 10);
    expect([restPerWork("attacker"), restPerWork("victim")]).toEqual([8, 0]);
    countDelivery("victim", 100);
    expect([restPerWork("attacker"), restPerWork("victim")]).toEqual([8, 8]);
  });
});
