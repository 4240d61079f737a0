import { type Balance, externalAccountId } from "../ledger/accounts.js";
import { applyLedgerChange, type LedgerChange } from "../ledger/ledger-change.js";
import type {
  AssetAmount,
  DecidableTransaction,
  PolicyRejection,
  Receipt,
  TransactionDetails,
} from "./transaction.js";
import { isFinal, type TransactionState, transactionStates, transitions } from "./transitions.js";

/** Why a transaction was rejected. */
export type RejectionCode =
  | "POLICY_REJECTED"
  | "APPROVAL_REJECTED"
  | "APPROVAL_EXPIRED"
  | "ADDRESS_NOT_LISTED";

/** Why a transaction failed. */
export type FailureCode =
  | "INSUFFICIENT_FUNDS"
  | "INSUFFICIENT_FEE_FUNDS"
  | "EXPIRED"
  | "WALLET_FROZEN"
  | "WOULD_REVERT"
  | "FEE_TOO_HIGH"
  | "ADDRESS_NOT_LISTED"
  | "EXECUTION_REVERTED"
  | "NONCE_TAKEN"
  | "DEPOSIT_REORGANISED";

/** What can happen to a transaction, with what is known about it. A fee is null if the network charged none. */
export type TransactionEvent =
  | { kind: "settle" }
  | { kind: "ask_approval" }
  | { kind: "begin" }
  /** Raises what is held for the network's fee to this amount. State and version stay, so it is not in the table of states. */
  | { kind: "reserve_fee"; fee: AssetAmount }
  | { kind: "broadcast"; hash: string }
  | { kind: "include"; receipt: Receipt }
  /** A deposit is seen for the first time. Coins can arrive without a transaction that shows them; then there is no hash. */
  | { kind: "observe"; receipt: Receipt | { hash: null; block: Receipt["block"] } }
  | { kind: "finalise"; fee: AssetAmount | null }
  | { kind: "reorganise" }
  /** `policy` is given if a policy rejects what was judged before by another version. */
  | { kind: "reject"; failure: RejectionCode; policy?: PolicyRejection }
  | { kind: "fail"; failure: FailureCode; fee: AssetAmount | null }
  | { kind: "cancel"; fee: AssetAmount | null };

export interface Decision {
  state: TransactionState;
  version: number;
  failure: RejectionCode | FailureCode | null;
  change: LedgerChange;
  /** What stays held for the network's fee. */
  feeHold: AssetAmount | null;
  details: TransactionDetails | null;
}

/** The event cannot happen in this state. */
export type Impossible = "impossible";

/** The lines of a transaction's ledger entries. */
const amountLine = 1;
const feeLine = 2;

const none: readonly never[] = [];

/**
 * The next state of a transaction and what that does to the ledger. It needs no balances: if the accounts do not have enough, the
 * caller decides again, with a failure.
 */
export function decide(transaction: DecidableTransaction, event: TransactionEvent): Decision | Impossible {
  if (event.kind === "reserve_fee") return reserveFee(transaction, event.fee);
  const state = transitions[transaction.state][event.kind];
  if (state === undefined) return "impossible";
  return {
    state,
    version: transaction.version + 1,
    failure: "failure" in event ? event.failure : null,
    change: changeOf(transaction, state, "fee" in event ? event.fee : null),
    feeHold: isFinal(state) ? null : transaction.feeHold,
    details: detailsOf(event),
  };
}

/** Decides, and applies the decision to the balances, unless an account that it names does not have enough. */
export function decideOnBalances(
  transaction: DecidableTransaction,
  event: TransactionEvent,
  balances: Map<string, Balance>,
): Decision | Impossible | "insufficient" {
  const decision = decide(transaction, event);
  if (decision === "impossible") return decision;
  const outcome = applyLedgerChange(balances, decision.change);
  if ("insufficient" in outcome) return "insufficient";
  for (const [name, balance] of outcome.balances) balances.set(name, balance);
  return decision;
}

function reserveFee(transaction: DecidableTransaction, fee: AssetAmount): Decision | Impossible {
  const { tenantId, state, version, sourceAccountId, feeHold } = transaction;
  if (state !== "processing" && state !== "broadcast" && state !== "confirming") return "impossible";
  if (feeHold !== null && feeHold.asset !== fee.asset)
    throw new Error(`a fee is held in ${feeHold.asset} and cannot be raised in ${fee.asset}`);
  const missing = fee.amount - (feeHold?.amount ?? 0n);
  const isRaised = missing > 0n;
  const hold = { tenantId, account: sourceAccountId, asset: fee.asset, amount: missing };
  return {
    state,
    version,
    failure: null,
    change: { releases: none, postings: none, holds: isRaised ? [hold] : none },
    // A hold of nothing says that a fee is expected: what is released covers it.
    feeHold: isRaised || feeHold === null ? fee : feeHold,
    details: null,
  };
}

/**
 * The amount is held exactly while the state says so, and paid on completion. With a final state the fee's hold ends and the fee is
 * paid out of it, whatever became of the amount.
 */
function changeOf(
  transaction: DecidableTransaction,
  to: TransactionState,
  fee: AssetAmount | null,
): LedgerChange {
  const {
    tenantId,
    state: from,
    asset,
    amount,
    sourceAccountId,
    destinationAccountId,
    feeHold,
  } = transaction;
  const wasHeld = transactionStates[from].holdsFunds;
  const isHeld = transactionStates[to].holdsFunds;
  const held = { tenantId, account: sourceAccountId, asset, amount };
  const releases = wasHeld && !isHeld ? [held] : [];
  const postings =
    to === "completed"
      ? [{ tenantId, line: amountLine, debit: sourceAccountId, credit: destinationAccountId, asset, amount }]
      : [];
  if (isFinal(to)) {
    assertCovered(fee, feeCover(transaction, to));
    if (feeHold !== null && feeHold.amount > 0n)
      releases.push({ tenantId, account: sourceAccountId, asset: feeHold.asset, amount: feeHold.amount });
    if (fee !== null) {
      const outside = externalAccountId(transaction.network);
      postings.push({ tenantId, line: feeLine, debit: sourceAccountId, credit: outside, ...fee });
    }
  }
  return { releases, postings, holds: isHeld && !wasHeld ? [held] : none };
}

/**
 * What a fee can be paid out of, if the transaction ends in this state: its hold, and the amount in the same asset if that is released. Null if
 * nothing is held for it.
 */
export function feeCover(
  { state, asset, amount, feeHold }: Pick<DecidableTransaction, "state" | "asset" | "amount" | "feeHold">,
  to: TransactionState,
): AssetAmount | null {
  const isReleased = to !== "completed" && transactionStates[state].holdsFunds;
  if (feeHold === null || feeHold.asset !== asset || !isReleased) return feeHold;
  return { asset, amount: feeHold.amount + amount };
}

/** A fee above what covers it could find an empty account, when the network has long been paid. */
function assertCovered(fee: AssetAmount | null, hold: AssetAmount | null): void {
  if (fee === null) return;
  if (hold === null || hold.asset !== fee.asset || hold.amount < fee.amount)
    throw new Error(`a fee of ${fee.amount} ${fee.asset} was charged and not held before`);
}

function detailsOf(event: Exclude<TransactionEvent, { kind: "reserve_fee" }>): TransactionDetails | null {
  switch (event.kind) {
    case "broadcast":
      return { hash: event.hash };
    case "include":
    case "observe":
      return event.receipt.hash === null
        ? { block: event.receipt.block }
        : { hash: event.receipt.hash, block: event.receipt.block };
    case "finalise":
    case "fail":
    case "cancel":
      return event.fee === null ? null : { fee: event.fee };
    case "reject":
      return event.policy === undefined ? null : { policy: event.policy };
    default:
      return null;
  }
}
