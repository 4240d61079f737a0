import type { ChainUnit, FoundAttempt, PaymentState, WalletKey } from "../../../src/app/chain/chain-store.js";
import { aheadCodes } from "../../../src/app/chain/halt.js";
import type { SettlementUnit, TransactionKey } from "../../../src/app/transactions/settlement.js";
import { createSimulatedAdoption } from "./simulated-adoption.js";
import { chainEpoch, freeNonce, listBound, readBook } from "./simulated-chain-books.js";
import { assertMayPay, holdsOf } from "./simulated-chain-holds.js";
import { factsOf, findWallets, openPayments } from "./simulated-chain-reads.js";
import {
  type ChainPaymentRow,
  type ChainWalletRow,
  chainAttempts,
  chainBlocks,
  chainDeposits,
  chainDoubts,
  chainHoldings,
  chainNonces,
  chainPayments,
  chainWallets,
  networks,
  numberKey,
} from "./simulated-chain-tables.js";
import type { RunStatement, SimulatedDatabase } from "./simulated-database.js";
import { gatherOne } from "./simulated-gathering.js";
import type { Rows } from "./simulated-rows.js";
import { createSimulatedSettling } from "./simulated-settling.js";
import { keyOf, openTransactions, wallets as walletTable } from "./simulated-tables.js";

/** A write that is sent without waiting; all of them are done before the commit, in order. */
export type SentWrite = (rows: Rows) => void;

/** `store/chain/chain-store.ts`, on the simulated database: the same statements in the same order. */
export function createSimulatedChainUnit(
  run: RunStatement,
  network: string,
  database: Pick<SimulatedDatabase, "now" | "epoch">,
  { claimOnRail, insertDeposits, lockAccounts, requestCancel, write }: SettlementUnit,
  sent: SentWrite[],
): ChainUnit {
  const send = (work: SentWrite) => void sent.push(work);
  const change = (keys: readonly TransactionKey[], to: (row: ChainPaymentRow) => Partial<ChainPaymentRow>) =>
    send((rows) => {
      for (const { tenantId, id } of keys) {
        const row = rows.get(chainPayments, keyOf(tenantId, id));
        if (row !== undefined) rows.put(chainPayments, keyOf(tenantId, id), { ...row, ...to(row) });
      }
    });
  const changeWallet = (
    { tenantId, walletId }: WalletKey,
    to: (row: ChainWalletRow, epoch: number) => Partial<ChainWalletRow>,
  ) =>
    send((rows) => {
      const row = rows.get(chainWallets, keyOf(tenantId, walletId));
      if (row === undefined) return;
      const changed = { ...row, ...to(row, chainEpoch(rows, database)) };
      rows.put(chainWallets, keyOf(tenantId, walletId), changed);
    });
  return {
    claimOnRail,
    insertDeposits,
    lockAccounts,
    requestCancel,
    write,
    lockSenders: (wallets) =>
      run("lock senders", async (rows) => {
        const keys = wallets.map(({ tenantId, walletId }) => keyOf(tenantId, walletId)).sort();
        for (const key of keys) await rows.lock(chainWallets, key);
        for (const key of keys) await rows.lock(walletTable, key, "shared");
        return keys.flatMap((key) => {
          const row = rows.get(chainWallets, key);
          if (row === undefined) return [];
          const { tenantId, walletId, haltedCode, haltedReason, confirmedEpoch } = row;
          const nextNonce = freeNonce(rows, row);
          const inFlight = openPayments(rows).filter((one) => one.walletId === walletId).length;
          const standing = {
            hasLater: nextNonce < row.nextNonce,
            boundNonce: listBound(rows, row)[0]?.nonce ?? null,
            isHalted: haltedReason !== null,
            haltedCode,
            isConfirmed: confirmedEpoch >= chainEpoch(rows, database) && row.reclaimedFrom === null,
            epoch: chainEpoch(rows, database),
            isFrozen: rows.get(walletTable, key)?.frozen === true,
          };
          return [{ tenantId, walletId, nextNonce, inFlight, ...standing }];
        });
      }),
    // Writes find rows by their keys here, and not by places that another change moves.
    lockWallets: () => undefined,
    lockPayments: (keys) =>
      run("lock payments", async (rows) => {
        const states = new Map<string, PaymentState>();
        for (const { tenantId, id } of keys.toSorted((a, b) => (a.id < b.id ? -1 : 1))) {
          await rows.lock(chainPayments, keyOf(tenantId, id));
          await rows.lock(openTransactions, keyOf(tenantId, id));
          const row = rows.get(chainPayments, keyOf(tenantId, id));
          if (row === undefined) continue;
          const { stage, attempt, wanted, terms } = row;
          const purpose = terms?.purpose ?? "payment";
          states.set(id, { stage, attempt, wanted, purpose, ...holdsOf(rows, row, database.now()) });
        }
        return states;
      }),
    findAttempts: (hashes) =>
      run("find attempts", (rows) =>
        hashes.flatMap((hash): FoundAttempt[] => {
          const attempt = rows.get(chainAttempts, hash);
          if (attempt === undefined) return [];
          const payment = rows.get(chainPayments, keyOf(attempt.tenantId, attempt.id));
          if (payment === undefined || payment.nonce === null) return [];
          const { stage, nonce } = payment;
          return [{ ...factsOf(rows, payment), hash, purpose: attempt.terms.purpose, stage, nonce }];
        }),
      ),
    lockIncluded: (keys) =>
      run("lock included", async (rows) => {
        for (const { tenantId, id } of keys.toSorted((a, b) => (a.id < b.id ? -1 : 1)))
          await rows.lock(chainPayments, keyOf(tenantId, id));
      }),
    findWallets: (addresses) => run("find wallets", (rows) => findWallets(rows, addresses)),
    findDeposits: (keys) =>
      run("find deposits", (rows) =>
        keys.flatMap(({ hash, ordinal }) => rows.get(chainDeposits, keyOf(hash, String(ordinal))) ?? []),
      ),
    readBooks: (wallets) => run("read books", (rows) => wallets.flatMap((wallet) => readBook(rows, wallet))),
    listUnknownNonces: (signed) =>
      run("list unknown nonces", (rows) =>
        signed
          .filter(
            ({ walletId, nonce, transactionId }) =>
              rows.get(chainNonces, keyOf(walletId, numberKey(nonce))) !== transactionId,
          )
          .map((one) => {
            const row = rows.get(chainPayments, keyOf(one.tenantId, one.transactionId));
            return { ...one, isNoted: row?.walletId === one.walletId && row.boundNonce === one.nonce };
          }),
      ),
    confirmWallets: (wallets, confirmedEpoch) => {
      for (const wallet of wallets) changeWallet(wallet, () => ({ confirmedEpoch, reclaimedFrom: null }));
    },
    doubtWallets: (doubted) =>
      run("doubt wallets", (rows) => {
        const found = doubted.flatMap(
          ({ tenantId, walletId }) => rows.get(chainWallets, keyOf(tenantId, walletId)) ?? [],
        );
        const epoch = chainEpoch(rows, database);
        if (!found.some((row) => row.confirmedEpoch === 0 || Math.abs(row.confirmedEpoch) >= epoch))
          return false;
        rows.put(chainDoubts, "all", (rows.get(chainDoubts, "all") ?? 0) + 1);
        for (const row of found)
          rows.put(chainWallets, keyOf(row.tenantId, row.walletId), { ...row, confirmedEpoch: epoch });
        return true;
      }),
    assign: (payments, headNumber) =>
      send((rows) => {
        for (const { tenantId, id, walletId, nonce, terms } of payments) {
          const row = rows.get(chainPayments, keyOf(tenantId, id));
          const sender = rows.get(chainWallets, keyOf(tenantId, walletId));
          if (row?.stage !== "ready" || sender === undefined) continue;
          rows.insert(chainNonces, keyOf(walletId, numberKey(nonce)), id);
          const assigned = { stage: "assigned", nonce, wanted: 1, terms, termsNumber: headNumber } as const;
          rows.put(chainPayments, keyOf(tenantId, id), { ...row, ...assigned });
          const nextNonce = Math.max(sender.nextNonce, nonce + 1);
          rows.put(chainWallets, keyOf(tenantId, walletId), { ...sender, nextNonce });
        }
      }),
    setTerms: (payments, headNumber) => {
      for (const { tenantId, id, terms } of payments)
        change([{ tenantId, id }], ({ attempt }) => ({
          wanted: attempt + 1,
          terms,
          termsNumber: headNumber,
        }));
    },
    stopPayments: async (payments) => {
      for (const stop of payments) change([stop], (row) => ({ stopReason: row.stopReason ?? stop.reason }));
    },
    keepTerms: (keys, headNumber) =>
      change(keys, ({ attempt }) => ({ wanted: attempt, termsNumber: headNumber })),
    storeAttempts: (attempts, headNumber) => {
      send((rows) => {
        for (const attempt of attempts) {
          assertMayPay(rows, attempt);
          rows.insert(chainAttempts, attempt.hash, attempt);
        }
      });
      change(attempts, ({ stage, wanted }) => ({
        ...{ attempt: wanted, speedUpRequested: false, termsNumber: headNumber },
        stage: stage === "assigned" ? "signed" : stage,
      }));
    },
    includePayments: (inclusions) => {
      for (const { tenantId, id, hash, block, succeeded, fee } of inclusions)
        change([{ tenantId, id }], () => ({
          stage: "included",
          included: { hash, block, succeeded, fee },
        }));
    },
    excludePayments: (keys, headNumber) =>
      change(keys, () => ({ stage: "signed", included: null, termsNumber: headNumber })),
    endPayments: (payments) => {
      change(payments, () => ({ stage: "over" }));
      for (const { tenantId, walletId, nonce } of payments)
        if (nonce !== null)
          changeWallet({ tenantId, walletId }, ({ finalNonce }) => ({
            finalNonce: Math.max(finalNonce, nonce + 1),
          }));
    },
    putDeposits: (deposits) =>
      send((rows) => {
        for (const one of deposits) rows.put(chainDeposits, keyOf(one.hash, String(one.ordinal)), one);
      }),
    gather: (amounts) => run("gather", (rows) => amounts.map((one) => gatherOne(rows, one))),
    setGathered: (amounts) =>
      send((rows) => {
        for (const { tenantId, walletId, asset, amount } of amounts)
          rows.put(chainHoldings, keyOf(walletId, asset), { tenantId, walletId, asset, gathered: amount });
      }),
    touchWallets: (wallets) => {
      for (const wallet of wallets) changeWallet(wallet, () => ({ comparedNumber: -1 }));
    },
    passOver: (wallets, at) => {
      for (const wallet of wallets)
        changeWallet(wallet, ({ comparedNumber, statedNonce, haltedReason }) => {
          const isAsListed =
            comparedNumber === wallet.comparedNumber &&
            statedNonce === wallet.statedNonce &&
            (haltedReason !== null) === wallet.isHalted;
          return isAsListed ? { comparedNumber: at } : {};
        });
    },
    writeHoldings: (wallets, _, at) => {
      for (const wallet of wallets) changeWallet(wallet, () => ({ comparedNumber: at }));
    },
    appendBlocks: (blocks) =>
      send((rows) => {
        for (const { number, hash, parentHash } of blocks)
          rows.insert(chainBlocks, numberKey(number), { number, hash, parentHash });
      }),
    removeBlocks: (above) =>
      send((rows) => {
        for (const { number } of rows.all(chainBlocks))
          if (number > above) rows.remove(chainBlocks, numberKey(number));
      }),
    settle: (number) =>
      send((rows) => {
        const row = rows.get(networks, network);
        if (row !== undefined) rows.put(networks, network, { ...row, settledNumber: number });
        for (const block of rows.all(chainBlocks))
          if (block.number < number) rows.remove(chainBlocks, numberKey(block.number));
      }),
    haltNetwork: ({ reason }) =>
      run("halt network", (rows) => {
        const row = rows.get(networks, network);
        if (row !== undefined) rows.put(networks, network, { ...row, haltedReason: reason });
      }),
    haltWallet: async (wallet, { code, reason }, statedNonce) => {
      changeWallet(wallet, (row, epoch) => {
        const isAnswer = statedNonce !== null && row.statedNonce === statedNonce;
        if (row.haltedReason !== null && !isAnswer && code !== "SETTLEMENT_FAILED") return {};
        const isAhead = aheadCodes.some((one) => one === code);
        const unconfirmed =
          isAhead && row.confirmedEpoch >= epoch ? { confirmedEpoch: -row.confirmedEpoch } : {};
        return { haltedCode: code, haltedReason: reason, statedNonce: null, ...unconfirmed };
      });
      return true;
    },
    // Last, because an object that begins with the members of another one is ten times as slow to make, and each unit of work makes one.
    ...createSimulatedSettling(run),
    ...createSimulatedAdoption(run, send, database),
  };
}
