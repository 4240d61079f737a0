import { array, assert, bigInt, constantFrom, property } from "fast-check";
import { describe, expect, it } from "vitest";
import { decide, type TransactionFacts } from "./decide.js";
import {
  isFinal,
  type TransactionState,
  transactionEvents,
  transactionStates,
  transitions,
} from "./transitions.js";

const states = Object.keys(transactionStates) as TransactionState[];
const factsIn = (state: TransactionState): TransactionFacts => ({
  state,
  version: 1,
  amount: 10n,
  source: transactionStates[state].holdsFunds ? { available: 90n, held: 10n } : { available: 100n, held: 0n },
  destination: { available: 0n, held: 0n },
});

describe("the table of states", () => {
  it("has the transitions of the design, and no others", () => {
    const reachable = Object.fromEntries(
      states.map((state) => [state, [...new Set(Object.values(transitions[state]))].sort()]),
    );
    expect(reachable).toEqual({
      accepted: ["awaiting_approval", "cancelled", "completed", "failed", "processing", "rejected"],
      awaiting_approval: ["cancelled", "completed", "failed", "processing", "rejected"],
      processing: ["broadcast", "cancelled", "completed", "failed"],
      broadcast: ["cancelled", "confirming", "failed"],
      confirming: ["broadcast", "completed", "failed"],
      completed: [],
      rejected: [],
      failed: [],
      cancelled: [],
    });
  });

  it("lets nothing happen in a final state, and always has a way out of the others", () => {
    for (const state of states) expect(Object.keys(transitions[state]).length === 0).toBe(isFinal(state));
  });
});

describe("deciding", () => {
  const pairs = states.flatMap((state) => transactionEvents.map((event) => [state, event] as const));

  it.each(pairs)("%s + %s follows the table and keeps the money whole", (state, event) => {
    const facts = factsIn(state);
    const decision = decide(facts, event);
    const next = transitions[state][event];
    if (next === undefined) {
      expect(decision).toBe("impossible");
      return;
    }
    if (decision === "impossible") throw new Error("the table allows it");
    expect([decision.state, decision.version]).toEqual([next, 2]);
    const total = decision.source.available + decision.source.held + decision.destination.available;
    expect(total).toBe(100n);
    expect(decision.source.held).toBe(transactionStates[next].holdsFunds ? 10n : 0n);
    expect(decision.destination.available).toBe(next === "completed" ? 10n : 0n);
    expect(decision.moved).toBe(next === "completed" ? 10n : 0n);
  });

  it.each(["settle", "begin", "ask_approval"] as const)(
    "%s without the funds is a failure that holds nothing",
    (event) => {
      const source = { available: 9n, held: 5n };
      expect(decide({ ...factsIn("accepted"), source }, event)).toMatchObject({
        state: "failed",
        failure: "INSUFFICIENT_FUNDS",
        moved: 0n,
        source,
      });
    },
  );

  it("conserves money, stays above zero and ends for good, whatever happens in whatever order", () =>
    assert(
      property(
        array(constantFrom(...transactionEvents), { maxLength: 30 }),
        bigInt(0n, 20n),
        bigInt(1n, 15n),
        (events, funds, amount) => {
          let facts: TransactionFacts = {
            state: "accepted",
            version: 1,
            amount,
            source: { available: funds, held: 0n },
            destination: { available: 0n, held: 0n },
          };
          for (const event of events) {
            const before = facts;
            const decision = decide(facts, event);
            if (decision === "impossible") continue;
            if (isFinal(before.state)) return false;
            if (decision.version !== before.version + 1) return false;
            const { source, destination } = decision;
            if (source.available < 0n || source.held < 0n || destination.available < 0n) return false;
            if (source.available + source.held + destination.available !== funds) return false;
            if (transactionStates[decision.state].holdsFunds !== (source.held === amount && source.held > 0n))
              return false;
            facts = { ...facts, state: decision.state, version: decision.version, source, destination };
          }
          return true;
        },
      ),
    ));
});
