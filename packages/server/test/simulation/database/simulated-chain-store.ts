import {
  ChainMovedError,
  type ChainStore,
  type NetworkLease,
  type SentPayment,
} from "../../../src/app/chain/chain-store.js";
import { aheadCodes } from "../../../src/app/chain/halt.js";
import { LeaseLostError } from "../../../src/runtime/loops/lease.js";
import type { Actor } from "../world/scheduler.js";
import { chainEpoch, freeNonce } from "./simulated-chain-books.js";
import { holdsOf } from "./simulated-chain-holds.js";
import { factsOf, findWallets, openPayments } from "./simulated-chain-reads.js";
import {
  type ChainPaymentRow,
  chainAttempts,
  chainBlocks,
  chainPayments,
  chainWallets,
  networks,
  numberKey,
} from "./simulated-chain-tables.js";
import { createSimulatedChainUnit, type SentWrite } from "./simulated-chain-unit.js";
import type { SimulatedDatabase } from "./simulated-database.js";
import type { Rows } from "./simulated-rows.js";
import { inSimulatedUnit } from "./simulated-settlement.js";
import { keyOf, transactions } from "./simulated-tables.js";

/** `store/chain/chain-store.ts`, on the simulated database. */
export function createSimulatedChainStore(database: SimulatedDatabase, actor: Actor): ChainStore {
  const query = <T>(what: string, statement: (rows: Rows) => T) => database.query(actor, what, statement);
  const isHalted = (rows: Rows, { tenantId, walletId }: ChainPaymentRow) =>
    rows.get(chainWallets, keyOf(tenantId, walletId))?.haltedReason !== null;
  return {
    leases: {
      acquire: (network, holder, leaseMs) =>
        query("acquire the network", (rows) => {
          const row = rows.get(networks, network);
          if (row === undefined || row.expiresMs > database.now()) return [];
          const fence = row.fence + 1;
          rows.put(networks, network, { ...row, holder, fence, expiresMs: database.now() + leaseMs });
          return [{ network, holder, fence: String(fence) }];
        }),
      renew: (leases, leaseMs) =>
        query("renew the network", (rows) =>
          leases.filter((lease) => {
            const row = rows.get(networks, lease.network);
            if (row === undefined || !isHeldBy(row, lease)) return false;
            rows.put(networks, lease.network, { ...row, expiresMs: database.now() + leaseMs });
            return true;
          }),
        ),
      release: (leases) =>
        query("release the network", (rows) => {
          for (const lease of leases) {
            const row = rows.get(networks, lease.network);
            if (row !== undefined && isHeldBy(row, lease))
              rows.put(networks, lease.network, { ...row, holder: null, expiresMs: 0 });
          }
        }),
    },
    register: (network, genesisHash, settled) =>
      query("register", (rows) => {
        if (rows.get(networks, network) !== undefined) return;
        const { number } = settled;
        const free = { holder: null, fence: 0, expiresMs: 0 };
        rows.put(networks, network, {
          network,
          genesisHash,
          haltedReason: null,
          settledNumber: number,
          ...free,
        });
        rows.put(chainBlocks, numberKey(number), settled);
      }),
    isRegistered: (network) =>
      query("look for the network", (rows) => rows.get(networks, network) !== undefined),
    readPosition: (network) =>
      query("read the position", (rows) => {
        const row = rows.get(networks, network);
        if (row === undefined) return undefined;
        const { genesisHash, haltedReason, settledNumber } = row;
        return { genesisHash, haltedReason, settledNumber, tail: rows.all(chainBlocks) };
      }),
    recordHeads: async () => undefined,
    recordSilence: async () => undefined,
    recordStall: async () => undefined,
    findOwned: (_, addresses) => query("find owned", (rows) => new Set(findWallets(rows, addresses).keys())),
    findAttempts: (_, hashes) =>
      query("find hashes", (rows) => new Set(hashes.filter((hash) => rows.get(chainAttempts, hash)))),
    listReady: (_, { inFlightMax, bound }) =>
      query("list ready", (rows) => {
        const room = new Map<string, number>();
        for (const { walletId } of openPayments(rows)) room.set(walletId, (room.get(walletId) ?? 0) + 1);
        const isBound = new Set(bound.map(({ id }) => id));
        const payments = rows
          .all(chainPayments)
          .filter((row) => row.stage === "ready")
          .sort((a, b) => Number(a.boundNonce !== null) - Number(b.boundNonce !== null))
          .filter((row) => {
            if (isBound.has(row.id)) return true;
            return (isCancelled(rows, row) || !isHalted(rows, row)) && !isHeld(rows, row);
          })
          .filter(({ id, walletId }) => {
            if (isBound.has(id)) return true;
            room.set(walletId, (room.get(walletId) ?? 0) + 1);
            return (room.get(walletId) ?? 0) <= inFlightMax;
          })
          .map((row) => {
            const { cancelRequested, isFrozen, isDelisted } = holdsOf(rows, row, database.now());
            const expiresAt = rows.get(transactions, keyOf(row.tenantId, row.id))?.expiresAt ?? null;
            const holds = { cancelRequested, isFrozen, isDelisted, expiresAt, fault: null };
            return { ...factsOf(rows, row), ...holds, boundNonce: row.boundNonce };
          });
        return { payments, lastWalletId: undefined, lookedUpTo: new Map() };
      }),
    listUnsigned: (_, limit, afterId = "") =>
      query("list unsigned", (rows) =>
        openPayments(rows)
          .sort((a, b) => (a.id < b.id ? -1 : 1))
          .filter(({ id }) => id > afterId)
          .filter((row) => row.wanted > row.attempt && !isHalted(rows, row))
          .filter(
            (row) => row.terms?.purpose === "cancellation" || row.stage === "assigned" || mayPay(rows, row),
          )
          .slice(0, limit)
          .map((row) => {
            if (row.nonce === null || row.terms === null) throw new Error("an open payment has terms");
            const holds = holdsOf(rows, row, database.now());
            const wanted = { ...row.terms, nonce: row.nonce, number: row.wanted };
            return { ...factsOf(rows, row), ...wanted, ...holds, fault: null };
          }),
      ),
    listSent: (_, __, after) =>
      query("list sent", (rows) =>
        after !== undefined
          ? []
          : openPayments(rows)
              .filter((row) => row.attempt > 0 && !isHalted(rows, row))
              .sort((a, b) =>
                a.walletId === b.walletId
                  ? (a.nonce ?? 0) - (b.nonce ?? 0)
                  : a.walletId < b.walletId
                    ? -1
                    : 1,
              )
              .flatMap((row) => readSent(rows, row)),
      ),
    readBytes: (_, hashes) =>
      query(
        "read bytes",
        (rows) => new Map(hashes.map((hash) => [hash, rows.get(chainAttempts, hash)?.bytes ?? ""])),
      ),
    listToCompare: (_, page) =>
      query("list to compare", (rows) =>
        rows
          .all(chainWallets)
          .filter(({ comparedNumber, walletId }) =>
            page.of === "touched"
              ? comparedNumber < 0 && walletId > (page.afterWalletId ?? "")
              : comparedNumber >= 0 && comparedNumber < page.beforeNumber,
          )
          .sort((a, b) => a.comparedNumber - b.comparedNumber || (a.walletId < b.walletId ? -1 : 1))
          .slice(0, page.limit)
          .map((row) => ({ ...row, isHalted: row.haltedReason !== null })),
      ),
    listUnconfirmed: (_, { of }) =>
      query("list unconfirmed", (rows) => ({
        wallets: rows
          .all(chainWallets)
          .filter(({ haltedCode }) => aheadCodes.some((one) => one === haltedCode) === (of === "halted"))
          .filter(({ confirmedEpoch, reclaimedFrom }) => {
            const epoch = chainEpoch(rows, database);
            if (of === "halted") return confirmedEpoch === 0 || -confirmedEpoch >= epoch;
            return confirmedEpoch < epoch || reclaimedFrom !== null;
          })
          .map((row) => {
            const nextNonce = freeNonce(rows, row);
            const hasLater = nextNonce < row.nextNonce;
            const finalNonce = Math.min(row.finalNonce, nextNonce);
            return { ...row, nextNonce, hasLater, finalNonce, epoch: chainEpoch(rows, database) };
          }),
        next: undefined,
      })),
    unitOfWork: (position, work) =>
      inSimulatedUnit(database, actor, async (unit, run) => {
        const sent: SentWrite[] = [];
        const { lease, tipHash } = position;
        await run("lock the network", async (rows) => {
          await rows.lock(networks, lease.network);
          const row = rows.get(networks, lease.network);
          if (row === undefined || !isHeldBy(row, lease)) throw new LeaseLostError("the lease is lost");
          if (rows.all(chainBlocks).at(-1)?.hash !== tipHash)
            throw new ChainMovedError("the chain has moved");
        });
        const result = await work(createSimulatedChainUnit(run, lease.network, database, unit, sent));
        if (sent.length > 0)
          await run("write rows of the chain", (rows) => {
            for (const write of sent) write(rows);
          });
        return result;
      }),
  };
}

function isHeldBy(row: { holder: string | null; fence: number }, lease: NetworkLease): boolean {
  return row.holder === lease.holder && String(row.fence) === lease.fence;
}

function isCancelled(rows: Rows, row: ChainPaymentRow): boolean {
  return holdsOf(rows, row, 0).cancelRequested;
}

/** Whether it waits for a nonce until its tenant is resumed. */
function isHeld(rows: Rows, row: ChainPaymentRow): boolean {
  const { cancelRequested, isFrozen, isSuspended } = holdsOf(rows, row, 0);
  return isSuspended && !cancelRequested && !isFrozen;
}

function mayPay(rows: Rows, row: ChainPaymentRow): boolean {
  const { cancelRequested, isFrozen, isSuspended } = holdsOf(rows, row, 0);
  return !cancelRequested && !isFrozen && !isSuspended;
}

function isBehindUnsigned(rows: Rows, { walletId, nonce }: ChainPaymentRow): boolean {
  return openPayments(rows).some(
    (one) => one.walletId === walletId && one.stage === "assigned" && (one.nonce ?? 0) < (nonce ?? 0),
  );
}

function readSent(rows: Rows, row: ChainPaymentRow): SentPayment[] {
  const attempt = rows.all(chainAttempts).find((one) => one.id === row.id && one.number === row.attempt);
  if (attempt === undefined || row.nonce === null) return [];
  const wallet = rows.all(chainWallets).find(({ walletId }) => walletId === row.walletId);
  return [
    {
      ...factsOf(rows, row),
      ...{ nonce: row.nonce, number: attempt.number, hash: attempt.hash, terms: attempt.terms },
      ...{
        termsNumber: row.termsNumber,
        speedUpRequested: row.speedUpRequested,
        isFreezing: false,
        fault: null,
      },
      waitsForLower:
        (wallet !== undefined && freeNonce(rows, wallet) < row.nonce) || isBehindUnsigned(rows, row),
      unsigned: row.wanted > row.attempt ? (row.terms?.purpose ?? "payment") : null,
      ...holdsOf(rows, row, 0),
    },
  ];
}
