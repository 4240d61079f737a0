import type { ChainDeposit } from "../../../src/app/chain/chain-deposit.js";
import type { ChainUnit } from "../../../src/app/chain/chain-store.js";
import {
  type ChainPaymentRow,
  chainAttempts,
  chainDeposits,
  chainPayments,
  chainWallets,
} from "./simulated-chain-tables.js";
import type { RunStatement } from "./simulated-database.js";
import type { Rows } from "./simulated-rows.js";
import { keyOf, openTransactions, transactions } from "./simulated-tables.js";

type BlockRange = Parameters<ChainUnit["listSeen"]>[0];

/** What a unit of the driver lists to settle or leave blocks. */
export function createSimulatedSettling(
  run: RunStatement,
): Pick<
  ChainUnit,
  "listSettlementFailed" | "listIncluded" | "listSeen" | "limitBlocks" | "listLeft" | "listUnsettled"
> {
  return {
    listSettlementFailed: () =>
      run("list settlement failed", (rows) =>
        rows
          .all(chainWallets)
          .filter(({ haltedCode }) => haltedCode === "SETTLEMENT_FAILED")
          .map(({ walletId }) => walletId),
      ),
    listIncluded: (range) =>
      run("list included", (rows) =>
        includedIn(rows, range)
          .sort((a, b) => (a.nonce ?? 0) - (b.nonce ?? 0))
          .map(({ tenantId, id, walletId, nonce, included, stopReason }) => {
            if (included === null || nonce === null) throw new Error("an included payment has a block");
            const attempt = rows.get(chainAttempts, included.hash);
            const held = rows.get(openTransactions, keyOf(tenantId, id))?.feeHold?.amount ?? 0n;
            const { hash, block, succeeded, fee } = included;
            const purpose = attempt?.terms.purpose ?? "payment";
            const at = { hash, block, nonce, purpose, succeeded, fee, feeHeld: held };
            return { tenantId, id, walletId, ...at, stopReason, stoppedBy: null };
          }),
      ),
    listSeen: (range) => run("list seen", (rows) => seenIn(rows, range)),
    limitBlocks: async (upTo) => upTo,
    listLeft: (upTo, without) =>
      run("list left", (rows) =>
        rows
          .all(chainDeposits)
          .filter(({ state, leftNumber }) => state === "seen" && leftNumber !== null && leftNumber <= upTo)
          .filter(({ walletId }) => !without.includes(walletId)),
      ),
    listUnsettled: (upTo) => run("list unsettled", (rows) => listUnsettled(rows, { upTo, without: [] })),
  };
}

function includedIn(rows: Rows, range: BlockRange): ChainPaymentRow[] {
  return rows
    .all(chainPayments)
    .filter((one) => one.stage === "included" && isInRange(one.included?.block.number, one.walletId, range));
}

function seenIn(rows: Rows, range: BlockRange): ChainDeposit[] {
  return rows
    .all(chainDeposits)
    .filter((one) => one.state === "seen" && isInRange(one.block?.number, one.walletId, range));
}

function isInRange(number: number | undefined, walletId: string, range: BlockRange): boolean {
  if (number === undefined) return false;
  return "above" in range ? number > range.above : number <= range.upTo && !range.without.includes(walletId);
}

function listUnsettled(rows: Rows, range: BlockRange): Set<string> {
  const payments = includedIn(rows, range);
  const receivers = payments.flatMap(({ tenantId, id }) => {
    const parties = rows.get(transactions, keyOf(tenantId, id))?.parties;
    return parties !== undefined && "destination" in parties && "walletId" in parties.destination
      ? [parties.destination.walletId]
      : [];
  });
  return new Set([...[...payments, ...seenIn(rows, range)].map(({ walletId }) => walletId), ...receivers]);
}
