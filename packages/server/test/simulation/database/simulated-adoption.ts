import type { ChainUnit } from "../../../src/app/chain/chain-store.js";
import { modelAssets } from "../../harness/chain/model-network.js";
import { chainEpoch, listBound } from "./simulated-chain-books.js";
import { factsOf, openPayments } from "./simulated-chain-reads.js";
import {
  type ChainPaymentRow,
  chainAttempts,
  chainNonces,
  chainPayments,
  chainWallets,
  numberKey,
} from "./simulated-chain-tables.js";
import type { SentWrite } from "./simulated-chain-unit.js";
import type { RunStatement, SimulatedDatabase } from "./simulated-database.js";
import { asOpen, keyOf, openTransactions, transactionKeys, transactions } from "./simulated-tables.js";

/** `store/chain/accept-chain.ts`, on the simulated database. */
export function createSimulatedAdoption(
  run: RunStatement,
  send: (work: SentWrite) => void,
  database: Pick<SimulatedDatabase, "epoch">,
): Pick<
  ChainUnit,
  | "listBoundNonces"
  | "listUnsignedNonces"
  | "reclaimNonces"
  | "listTaken"
  | "lockOpen"
  | "listForgotten"
  | "listAwaiting"
  | "adoptNonce"
  | "insertLosses"
  | "resumeWallet"
> {
  return {
    listBoundNonces: (wallets) =>
      run("list bound nonces", (rows) => wallets.flatMap((wallet) => listBound(rows, wallet))),
    listUnsignedNonces: ({ tenantId, walletId }) =>
      run("list unsigned nonces", async (rows) => {
        const isUnsigned = (row: ChainPaymentRow) => row.stage === "assigned" && row.attempt === 0;
        const listed = openPayments(rows).filter((one) => one.walletId === walletId && isUnsigned(one));
        for (const { id } of listed) await rows.lock(chainPayments, keyOf(tenantId, id));
        return listed.flatMap(({ id }) => {
          const row = rows.get(chainPayments, keyOf(tenantId, id));
          if (row === undefined || !isUnsigned(row)) return [];
          return [{ tenantId, id, nonce: row.nonce ?? 0, isStopped: row.stopReason !== null }];
        });
      }),
    reclaimNonces: ({ tenantId, walletId }, payments) =>
      send((rows) => {
        const wallet = rows.get(chainWallets, keyOf(tenantId, walletId));
        if (wallet === undefined || payments.length === 0) return;
        for (const { id, nonce, boundNonce } of payments) {
          const row = rows.get(chainPayments, keyOf(tenantId, id));
          if (row === undefined) continue;
          rows.put(chainPayments, keyOf(tenantId, id), {
            ...{ ...row, stage: "ready", nonce: null, wanted: 0, boundNonce: boundNonce ?? row.boundNonce },
          });
          rows.remove(chainNonces, keyOf(walletId, numberKey(nonce)));
        }
        const kept = rows.all(chainPayments).filter((row) => row.walletId === walletId);
        const nextNonce = Math.max(wallet.finalNonce, ...kept.map(({ nonce }) => (nonce ?? -1) + 1));
        const lowest = Math.min(wallet.reclaimedFrom ?? nextNonce, ...payments.map(({ nonce }) => nonce));
        const reclaimedFrom = lowest < nextNonce ? lowest : null;
        rows.put(chainWallets, keyOf(tenantId, walletId), {
          ...{ ...wallet, nextNonce, reclaimedFrom },
          confirmedEpoch: Math.min(wallet.confirmedEpoch, chainEpoch(rows, database) - 1),
        });
      }),
    listTaken: ({ tenantId, walletId }, below) =>
      run("list taken", async (rows) => {
        const isTaken = ({ stage, nonce }: { stage: string; nonce: number | null }) =>
          (stage === "assigned" || stage === "signed") && nonce !== null && nonce < below;
        const listed = openPayments(rows).filter((one) => one.walletId === walletId && isTaken(one));
        for (const { id } of listed) await rows.lock(chainPayments, keyOf(tenantId, id));
        return listed.flatMap(({ id }) => {
          const row = rows.get(chainPayments, keyOf(tenantId, id));
          if (row === undefined || !isTaken(row)) return [];
          const isBroadcast = rows.get(openTransactions, keyOf(tenantId, id))?.state === "broadcast";
          const attempts = rows.all(chainAttempts).filter((one) => one.id === id);
          const hashes = attempts.sort((a, b) => a.number - b.number).map(({ hash }) => hash);
          return [
            { ...factsOf(rows, row), nonce: row.nonce ?? 0, attempt: row.attempt, hashes, isBroadcast },
          ];
        });
      }),
    lockOpen: (keys) =>
      run("lock open", async (rows) => {
        for (const key of keys.map(({ tenantId, id }) => keyOf(tenantId, id)).sort())
          await rows.lock(openTransactions, key);
      }),
    listForgotten: ({ tenantId, walletId }, signed) =>
      run("list forgotten", async (rows) => {
        const forgotten = [];
        for (const { transactionId: id, nonce } of signed.toSorted((a, b) =>
          a.transactionId < b.transactionId ? -1 : 1,
        )) {
          const key = keyOf(tenantId, id);
          if (rows.get(chainPayments, key) !== undefined) await rows.lock(chainPayments, key);
          const row = rows.get(chainPayments, key);
          if (rows.get(openTransactions, key) === undefined) continue;
          if (row !== undefined && (row.stage !== "ready" || row.walletId !== walletId)) continue;
          const isOccupied = rows.get(chainNonces, keyOf(walletId, numberKey(nonce))) !== undefined;
          const known = { isBroadcast: false, isOccupied, isBegun: row !== undefined };
          forgotten.push({
            ...factsOf(rows, { tenantId, id, walletId }),
            ...{ nonce, attempt: row?.attempt ?? 0, hashes: [], ...known },
          });
        }
        return forgotten;
      }),
    listAwaiting: (amounts, settledNumber) =>
      run("list awaiting", (rows) => {
        const open = rows
          .all(chainPayments)
          .filter(
            ({ stage, included }) =>
              ["ready", "assigned", "signed"].includes(stage) ||
              (stage === "included" && (included?.block.number ?? 0) > settledNumber),
          );
        const paid = open.map((row) => factsOf(rows, row));
        return amounts.flatMap((given) => {
          const ofGiven = paid.filter(
            ({ destinationAccountId, asset }) =>
              destinationAccountId === given.walletId && asset === given.asset,
          );
          return ofGiven.length === 0
            ? []
            : [{ ...given, amount: ofGiven.reduce((sum, { amount }) => sum + amount, 0n) }];
        });
      }),
    adoptNonce: ({ tenantId, walletId }, finalNonce) =>
      send((rows) => {
        const row = rows.get(chainWallets, keyOf(tenantId, walletId));
        if (row === undefined) return;
        const nextNonce = Math.max(row.nextNonce, finalNonce);
        rows.put(chainWallets, keyOf(tenantId, walletId), {
          ...row,
          finalNonce,
          nextNonce,
          reclaimedFrom: row.reclaimedFrom === null ? null : Math.max(row.reclaimedFrom, finalNonce),
          comparedNumber: -1,
        });
      }),
    insertLosses: (losses) =>
      run("insert losses", async (rows) => {
        for (const { tenantId, id, walletId, idempotencyKey, asset: code, address, ...loss } of losses) {
          const asset = modelAssets.find(code);
          if (asset === undefined) throw new Error(`there is no asset ${code}`);
          const { requestHash, reference, amount, createdAt } = loss;
          const accepted = {
            ...{ tenantId, id, idempotencyKey, requestHash, reference, asset, amount, createdAt },
            ...{
              clientId: null,
              metadata: null,
              expiresAt: null,
              policyVersion: 0,
              policyRule: null,
              needsJudgement: false,
            },
            parties: { kind: "payout" as const, source: { walletId }, destination: { address } },
          };
          rows.insert(transactionKeys, keyOf(tenantId, idempotencyKey), id);
          rows.insert(transactions, keyOf(tenantId, id), accepted);
          rows.insert(openTransactions, keyOf(tenantId, id), asOpen(accepted));
        }
      }),
    resumeWallet: ({ tenantId, walletId }) =>
      send((rows) => {
        const row = rows.get(chainWallets, keyOf(tenantId, walletId));
        if (row === undefined) return;
        const resumed = { haltedCode: null, haltedReason: null, statedNonce: null, comparedNumber: -1 };
        rows.put(chainWallets, keyOf(tenantId, walletId), { ...row, ...resumed });
      }),
  };
}
