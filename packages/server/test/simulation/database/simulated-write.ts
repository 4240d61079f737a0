import { mayBeNegative } from "@bursar/domain";
import type { Balances } from "../../../src/app/ledger/ledger-unit.js";
import type { ClaimedTransaction, Settlement } from "../../../src/app/transactions/settlement.js";
import { writeTransactionDetails } from "../../../src/app/transactions/transaction-details.js";
import { BrokenRule } from "./database-faults.js";
import { chainPayments, chainWallets } from "./simulated-chain-tables.js";
import type { RunStatement } from "./simulated-database.js";
import { appendEvents } from "./simulated-events.js";
import type { Rows } from "./simulated-rows.js";
import { accounts, keyOf, openTransactions } from "./simulated-tables.js";

/** As `store/chain/begin-payments.ts`. */
function beginPayment(rows: Rows, { tenantId, id, sourceAccountId: walletId }: ClaimedTransaction): void {
  if (rows.get(chainWallets, keyOf(tenantId, walletId)) === undefined) return;
  rows.insert(chainPayments, keyOf(tenantId, id), {
    ...{ tenantId, id, walletId, stage: "ready", attempt: 0, wanted: 0, nonce: null, terms: null },
    boundNonce: null,
    ...{ termsNumber: 0, speedUpRequested: false, included: null, stopReason: null },
  });
}

const finalStates = ["completed", "rejected", "failed", "cancelled"];

/** `store/transactions/write-settlements.ts`, on the simulated database. */
export async function writeSettlements(
  run: RunStatement,
  settlements: readonly Settlement[],
  changed: Balances,
): Promise<void> {
  await run("write accounts", (rows) => {
    for (const [name, balance] of changed) {
      const [, accountId = ""] = name.split(" ");
      if ((balance.available < 0n && !mayBeNegative(accountId)) || balance.held < 0n)
        throw new BrokenRule(`${name} is below zero`);
      rows.put(accounts, name, balance);
    }
  });
  await run("close or advance", (rows) => {
    for (const { transaction, decision } of settlements) {
      if (decision === undefined) throw new Error("nothing waits for approval here");
      const key = keyOf(transaction.tenantId, transaction.id);
      const open = rows.get(openTransactions, key);
      const { state, version, feeHold } = decision;
      if (state === "processing" && transaction.state !== "processing") beginPayment(rows, transaction);
      if (finalStates.includes(state)) rows.remove(openTransactions, key);
      else if (open !== undefined) rows.put(openTransactions, key, { ...open, state, version, feeHold });
    }
  });
  await appendEvents(
    run,
    settlements.flatMap(
      ({ transaction: { tenantId, id, state: previousState, ...before }, decision, occurredAt, actorId }) => {
        if (decision === undefined || decision.version === before.version) return [];
        const { version, state, failure: failureCode, details } = decision;
        return [
          {
            ...{
              tenantId,
              event: "transaction.updated" as const,
              subjectId: id,
              version,
              state,
              failureCode,
            },
            ...{ occurredAt, previousState, actorId: actorId ?? null },
            details: details === null ? undefined : writeTransactionDetails(details),
          },
        ];
      },
    ),
  );
}
