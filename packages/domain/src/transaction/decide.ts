import { applyEffect, type LedgerEffect } from "../ledger/account.js";
import type { Balance } from "../ledger/accounts.js";
import {
  type TransactionEvent,
  type TransactionState,
  transactionStates,
  transitions,
} from "./transitions.js";

/** What a decision needs to know of a transaction. */
export interface TransactionFacts {
  state: TransactionState;
  version: number;
  amount: bigint;
  source: Balance;
  destination: Balance;
}

/** Why a transaction has ended without moving money. */
export type FailureCode =
  | "INSUFFICIENT_FUNDS"
  | "EXPIRED"
  | "WALLET_FROZEN"
  | "POLICY_REJECTED"
  | "APPROVAL_REJECTED"
  | "APPROVAL_EXPIRED";

export interface Decision {
  state: TransactionState;
  version: number;
  failure: FailureCode | null;
  /** What the source pays the destination; zero where no money changes hands. */
  moved: bigint;
  source: Balance;
  destination: Balance;
}

/** The event cannot happen in this state. */
export type Impossible = "impossible";

/**
 * The next state of a transaction and its money. Where the source does not have enough, the event becomes a failure: that is an
 * outcome, not an error.
 */
export function decide(
  facts: TransactionFacts,
  event: TransactionEvent,
  failure: FailureCode | null = null,
): Decision | Impossible {
  const next = transitions[facts.state][event];
  if (next === undefined) return "impossible";
  const effect = effectOf(facts.state, next);
  const balances = applyEffect(effect, facts.amount, facts.source, facts.destination);
  if (balances === undefined) return decide(facts, "fail", "INSUFFICIENT_FUNDS");
  return {
    state: next,
    version: facts.version + 1,
    failure,
    moved: next === "completed" ? facts.amount : 0n,
    source: balances.source,
    destination: balances.destination,
  };
}

/** What a change of state does to the money: funds are held exactly while the state says so, and paid on completion. */
function effectOf(from: TransactionState, to: TransactionState): LedgerEffect {
  const wasHeld = transactionStates[from].holdsFunds;
  if (to === "completed") return wasHeld ? "pay_from_held" : "pay_from_available";
  const isHeld = transactionStates[to].holdsFunds;
  if (wasHeld === isHeld) return "none";
  return isHeld ? "hold" : "release";
}
