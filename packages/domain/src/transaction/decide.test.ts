import { array, assert, bigInt, constantFrom, property } from "fast-check";
import { describe, expect, it } from "vitest";
import { accountName, type Balance, externalAccountId } from "../ledger/accounts.js";
import { decide, decideOnBalances, type TransactionEvent } from "./decide.js";
import type { AssetAmount, DecidableTransaction } from "./transaction.js";
import {
  isFinal,
  type TransactionState,
  transactionEvents,
  transactionStates,
  transitions,
} from "./transitions.js";

const states = Object.keys(transactionStates) as TransactionState[];
const feeHold = { asset: "ETH", amount: 7n };
const receipt = { hash: "0xaa", block: { number: 12, hash: "0xbb" } };

const transactionIn = (state: TransactionState, hold: AssetAmount | null = null) =>
  ({
    tenantId: "t",
    state,
    version: 1,
    network: "test:steps",
    asset: "USD",
    amount: 10n,
    sourceAccountId: "s",
    destinationAccountId: "d",
    feeHold: ["processing", "broadcast", "confirming"].includes(state) ? hold : null,
  }) as DecidableTransaction;

/** One event of each kind, with data that fits. */
const events: Record<TransactionEvent["kind"], TransactionEvent> = {
  settle: { kind: "settle" },
  ask_approval: { kind: "ask_approval" },
  begin: { kind: "begin" },
  reserve_fee: { kind: "reserve_fee", fee: feeHold },
  broadcast: { kind: "broadcast", hash: "0xaa" },
  include: { kind: "include", receipt },
  observe: { kind: "observe", receipt },
  finalise: { kind: "finalise", fee: null },
  reorganise: { kind: "reorganise" },
  reject: { kind: "reject", failure: "POLICY_REJECTED" },
  fail: { kind: "fail", failure: "EXPIRED", fee: null },
  cancel: { kind: "cancel", fee: null },
};

const name = (account: string, asset: string) => accountName({ tenantId: "t", accountId: account, asset });
const outside = externalAccountId("test:steps");

/** Balances as they are when a transaction is in this state and holds this fee. */
function balancesOf(
  { state, amount, feeHold: hold }: DecidableTransaction,
  funds = 100n,
): Map<string, Balance> {
  const held = transactionStates[state].holdsFunds ? amount : 0n;
  return new Map([
    [name("s", "USD"), { available: funds - held, held }],
    [name("d", "USD"), { available: 0n, held: 0n }],
    [name("s", "ETH"), { available: 20n - (hold?.amount ?? 0n), held: hold?.amount ?? 0n }],
    [name(outside, "ETH"), { available: -20n, held: 0n }],
  ]);
}

describe("the table of states", () => {
  it("has the transitions of the design, and no others", () => {
    const reachable = Object.fromEntries(
      states.map((state) => [state, [...new Set(Object.values(transitions[state]))].sort()]),
    );
    expect(reachable).toEqual({
      accepted: [
        "awaiting_approval",
        "cancelled",
        "completed",
        "confirming",
        "failed",
        "processing",
        "rejected",
      ],
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

  it("allows nothing in a final state, and always has a way out of the others", () => {
    for (const state of states) expect(Object.keys(transitions[state]).length === 0).toBe(isFinal(state));
  });
});

describe("decide", () => {
  const pairs = states.flatMap((state) => transactionEvents.map((kind) => [state, kind] as const));

  it.each(pairs)("%s + %s follows the table and keeps the money whole", (state, kind) => {
    const transaction = transactionIn(state, feeHold);
    const balances = balancesOf(transaction);
    const decision = decideOnBalances(transaction, events[kind], balances);
    const next = transitions[state][kind];
    if (next === undefined) {
      expect(decision).toBe("impossible");
      return;
    }
    if (typeof decision === "string") throw new Error(`the table allows it: ${decision}`);
    expect([decision.state, decision.version]).toEqual([next, 2]);
    const [source, destination] = [balances.get(name("s", "USD")), balances.get(name("d", "USD"))];
    const isHeld = transactionStates[next].holdsFunds;
    const paid = next === "completed" ? 10n : 0n;
    const held = isHeld ? 10n : 0n;
    expect(source).toEqual({ available: 100n - held - paid, held });
    expect(destination).toEqual({ available: paid, held: 0n });
    expect(decision.change.postings.map(({ line, amount }) => [line, amount])).toEqual(
      next === "completed" ? [[1, 10n]] : [],
    );
    expect(decision.feeHold).toEqual(isFinal(next) ? null : transaction.feeHold);
    expect(balances.get(name("s", "ETH"))?.held).toBe(decision.feeHold?.amount ?? 0n);
  });

  it("keeps what an event says: hash, block, fee and failure", () => {
    const detailsOf = (state: TransactionState, event: TransactionEvent) => {
      const decision = decide(transactionIn(state, feeHold), event);
      return decision === "impossible" ? decision : [decision.details, decision.failure];
    };
    expect(detailsOf("processing", events.broadcast)).toEqual([{ hash: "0xaa" }, null]);
    expect(detailsOf("broadcast", events.include)).toEqual([receipt, null]);
    expect(detailsOf("accepted", events.observe)).toEqual([receipt, null]);
    const fee = { asset: "ETH", amount: 3n };
    expect(detailsOf("confirming", { kind: "finalise", fee })).toEqual([{ fee }, null]);
    expect(detailsOf("confirming", { kind: "fail", failure: "EXECUTION_REVERTED", fee })).toEqual([
      { fee },
      "EXECUTION_REVERTED",
    ]);
    expect(detailsOf("accepted", events.settle)).toEqual([null, null]);
  });

  it("does not compile with a failure that the event cannot have", () => {
    // @ts-expect-error A settlement has no failure.
    decide(transactionIn("accepted"), { kind: "settle", failure: "EXPIRED" });
    // @ts-expect-error A rejection is not a failure.
    decide(transactionIn("accepted"), { kind: "reject", failure: "EXPIRED" });
  });
});

describe("fees", () => {
  it.each([
    ["confirming", { kind: "finalise", fee: { asset: "ETH", amount: 3n } }, 10n],
    ["confirming", { kind: "fail", failure: "EXECUTION_REVERTED", fee: { asset: "ETH", amount: 3n } }, 0n],
    ["broadcast", { kind: "cancel", fee: { asset: "ETH", amount: 3n } }, 0n],
  ] as const)("in %s are paid out of their hold, in their own asset: %o", (state, event, paid) => {
    const transaction = transactionIn(state, feeHold);
    const balances = balancesOf(transaction);
    decideOnBalances(transaction, event, balances);
    expect(balances.get(name("s", "ETH"))).toEqual({ available: 17n, held: 0n });
    expect(balances.get(name(outside, "ETH"))).toEqual({ available: -17n, held: 0n });
    expect(balances.get(name("d", "USD"))?.available).toBe(paid);
    expect(balances.get(name("s", "USD"))).toEqual({ available: 100n - paid, held: 0n });
  });

  it("are raised to an amount, as often as that is asked for", () => {
    const transaction = transactionIn("processing");
    const balances = balancesOf(transaction);
    const decision = decideOnBalances(transaction, events.reserve_fee, balances);
    expect(decision).toMatchObject({ state: "processing", version: 1, feeHold });
    const again = decideOnBalances(transactionIn("broadcast", feeHold), events.reserve_fee, balances);
    expect(again).toMatchObject({ state: "broadcast", version: 1, feeHold });
    expect(balances.get(name("s", "ETH"))).toEqual({ available: 13n, held: 7n });
    const more = { asset: "ETH", amount: 21n };
    expect(
      decideOnBalances(transactionIn("broadcast", feeHold), { kind: "reserve_fee", fee: more }, balances),
    ).toBe("insufficient");
  });

  it.each(states.filter((state) => !["processing", "broadcast", "confirming"].includes(state)))(
    "cannot be reserved in %s",
    (state) => expect(decide(transactionIn(state), events.reserve_fee)).toBe("impossible"),
  );

  it("of nothing hold nothing, and are paid out of the amount if that is released", () => {
    const nothing = { asset: "USD", amount: 0n };
    const transaction = transactionIn("processing");
    const balances = balancesOf(transaction).set(name(outside, "USD"), { available: -100n, held: 0n });
    const reserved = decideOnBalances(transaction, { kind: "reserve_fee", fee: nothing }, balances);
    expect(reserved).toMatchObject({ feeHold: nothing });
    const fee = { asset: "USD", amount: 3n };
    const { available } = balances.get(name("s", "USD")) ?? { available: 0n };
    const ended = decideOnBalances(transactionIn("processing", nothing), { kind: "cancel", fee }, balances);
    expect(ended).toMatchObject({ state: "cancelled", feeHold: null });
    const { amount } = transaction;
    expect(balances.get(name("s", "USD"))).toEqual({ available: available + amount - 3n, held: 0n });
  });

  it("that were not held before are an error", () => {
    const fee = { asset: "ETH", amount: 8n };
    const event = { kind: "finalise", fee } as const;
    expect(() => decide(transactionIn("confirming", feeHold), event)).toThrow("not held before");
    expect(() => decide(transactionIn("confirming"), event)).toThrow("not held before");
  });

  it("that are more than their hold are paid out of the amount, if that is in the same asset and does not move", () => {
    const transaction = {
      ...transactionIn("broadcast", { asset: "USD", amount: 7n }),
      ...{ asset: "USD", amount: 10n },
    } as DecidableTransaction;
    const balances = new Map([
      [name("s", "USD"), { available: 0n, held: 17n }],
      [name(outside, "USD"), { available: 0n, held: 0n }],
    ]);
    const cancel = (amount: bigint) => ({ kind: "cancel", fee: { asset: "USD", amount } }) as const;
    expect(decideOnBalances(transaction, cancel(12n), balances)).toMatchObject({ state: "cancelled" });
    expect(balances.get(name("s", "USD"))).toEqual({ available: 5n, held: 0n });
    expect(() => decide(transaction, cancel(18n))).toThrow("not held before");
    const confirming = { ...transaction, state: "confirming" } as DecidableTransaction;
    const finalise = { kind: "finalise", fee: { asset: "USD", amount: 8n } } as const;
    expect(() => decide(confirming, finalise)).toThrow("not held before");
  });
});

describe("deciding on balances", () => {
  it.each(["settle", "begin", "ask_approval"] as const)(
    "%s without the funds changes nothing, and can be decided again as a failure",
    (kind) => {
      const transaction = transactionIn("accepted");
      const balances = balancesOf(transaction, 9n);
      const before = new Map(balances);
      expect(decideOnBalances(transaction, events[kind], balances)).toBe("insufficient");
      expect(
        decideOnBalances(transaction, { kind: "fail", failure: "INSUFFICIENT_FUNDS", fee: null }, balances),
      ).toMatchObject({ state: "failed", failure: "INSUFFICIENT_FUNDS" });
      expect(balances).toEqual(before);
    },
  );

  it("holds a deposit in the account of what is outside, until it is final", () => {
    const deposit = { ...transactionIn("accepted"), sourceAccountId: outside } as DecidableTransaction;
    const balances = new Map([
      [name(outside, "USD"), { available: 0n, held: 0n }],
      [name("d", "USD"), { available: 0n, held: 0n }],
    ]);
    decideOnBalances(deposit, events.observe, balances);
    expect(balances.get(name(outside, "USD"))).toEqual({ available: -10n, held: 10n });
    decideOnBalances({ ...deposit, state: "confirming", feeHold: null }, events.finalise, balances);
    expect(balances.get(name(outside, "USD"))).toEqual({ available: -10n, held: 0n });
    expect(balances.get(name("d", "USD"))).toEqual({ available: 10n, held: 0n });
  });

  it("conserves money, stays above zero and ends for good, whatever happens in whatever order", () =>
    assert(
      property(
        array(constantFrom(...Object.values(events)), { maxLength: 30 }),
        bigInt(0n, 20n),
        bigInt(1n, 15n),
        (happened, funds, amount) => {
          let transaction = { ...transactionIn("accepted"), amount } as DecidableTransaction;
          const balances = balancesOf(transaction, funds);
          for (const event of happened) {
            const decision = decideOnBalances(transaction, event, balances);
            if (typeof decision === "string") continue;
            if (isFinal(transaction.state)) return false;
            const source = balances.get(name("s", "USD")) as Balance;
            const destination = balances.get(name("d", "USD")) as Balance;
            const coins = balances.get(name("s", "ETH")) as Balance;
            if (source.available < 0n || source.held < 0n || destination.available < 0n) return false;
            if (source.available + source.held + destination.available !== funds) return false;
            if (source.held !== (transactionStates[decision.state].holdsFunds ? amount : 0n)) return false;
            if (coins.held !== (decision.feeHold?.amount ?? 0n)) return false;
            const { state, version, feeHold: hold } = decision;
            transaction = { ...transaction, state, version, feeHold: hold } as DecidableTransaction;
          }
          return true;
        },
      ),
    ));
});
