import type { AssetRegistry } from "@bursar/domain";
import type { ChainStore, ChainUnit, NetworkLease, WalletKey } from "../../app/chain/chain-store.js";
import type { RowMac } from "../access/row-integrity.js";
import { type Database, type KeyedQueryable, requireKeys, type Tx } from "../core/database.js";
import { sql } from "../core/sql.js";
import type { EventLog } from "../events/events.js";
import { withLedger } from "../ledger/ledger.js";
import { createSettlementUnit } from "../transactions/settlement.js";
import type { ObserveUnit } from "../transactions/write-settlements.js";
import {
  adoptNonce,
  insertLosses,
  listAwaiting,
  listForgotten,
  listTaken,
  lockOpen,
  resumeWallet,
} from "./accept-chain.js";
import * as blocks from "./chain-blocks.js";
import { listToCompare, passOver, readBooks, writeHoldings } from "./chain-books.js";
import * as deposits from "./chain-deposits.js";
import {
  createPaymentReads,
  findAttempts,
  listIncluded,
  lockIncluded,
  lockPayments,
} from "./chain-payments.js";
import { lockSenders, lockWallets } from "./lock-senders.js";
import { createNetworkLeases, lockNetwork } from "./network-leases.js";
import { listUnsignedNonces, reclaimNonces } from "./reclaim-nonces.js";
import { limitBlocks, listSettlementFailed, listUnsettled } from "./settling.js";
import { stopPayments } from "./stop-payments.js";
import { listBoundNonces } from "./wallets/bound-nonces.js";
import {
  confirmWallets,
  doubtWallets,
  listUnconfirmed,
  listUnknownNonces,
} from "./wallets/confirmed-wallets.js";
import { isAddressAuthentic, type SealedAddress } from "./wallets/wallet-integrity.js";
import * as payments from "./write-payments.js";

/** The SQL behind the drivers of chains. */
export function createChainStore(
  database: Database,
  log: EventLog,
  assets: AssetRegistry,
  observeUnit?: ObserveUnit,
): ChainStore {
  return {
    leases: createNetworkLeases(database),
    register: (network, genesisHash, settled) => blocks.register(database, network, genesisHash, settled),
    isRegistered: (network) => blocks.isRegistered(database, network),
    readPosition: (network) => blocks.readPosition(database, network),
    recordHeads: (lease, heads) => blocks.recordHeads(database, lease, heads),
    recordStall: (lease, stall) => blocks.recordStall(database, lease, stall),
    recordSilence: (lease, since) => blocks.recordSilence(database, lease, since),
    findOwned: async (network, addresses) =>
      new Set((await findWallets(database, network, addresses)).keys()),
    ...createPaymentReads(database),
    listToCompare: (network, page) => listToCompare(database, network, page),
    listUnconfirmed: (network, page) => listUnconfirmed(database, network, page),
    unitOfWork: (position, work) =>
      withLedger(database, async (tx) => {
        await lockNetwork(tx, position);
        return await work(createChainUnit(tx, log, assets, position.lease, observeUnit?.()));
      }),
  };
}

function createChainUnit(
  tx: Tx,
  log: EventLog,
  assets: AssetRegistry,
  { network }: NetworkLease,
  onWriting: ReturnType<ObserveUnit> | undefined,
): ChainUnit {
  const settlement = createSettlementUnit(tx, log, assets, onWriting);
  const { claimOnRail, insertDeposits, lockAccounts, requestCancel, write } = settlement;
  return {
    ...{ claimOnRail, insertDeposits, lockAccounts, requestCancel, write },
    lockSenders: (wallets) => lockSenders(tx, network, wallets),
    lockWallets: (wallets) => lockWallets(tx, wallets),
    lockPayments: (keys) => lockPayments(tx, keys),
    findAttempts: (hashes) => findAttempts(tx, network, hashes),
    lockIncluded: (keys) => lockIncluded(tx, keys),
    findWallets: (addresses) => findWallets(tx, network, addresses),
    findDeposits: (keys) => deposits.findDeposits(tx, network, keys),
    listSettlementFailed: () => listSettlementFailed(tx, network),
    listIncluded: (range) => listIncluded(tx, network, range),
    listSeen: (range) => deposits.listSeen(tx, network, range),
    limitBlocks: (upTo, rowsMax, without) => limitBlocks(tx, network, upTo, rowsMax, without),
    listLeft: (upTo, without) => deposits.listLeft(tx, network, upTo, without),
    listUnsettled: (upTo, wallets) => listUnsettled(tx, network, upTo, wallets),
    readBooks: (wallets) => readBooks(tx, wallets),
    listUnknownNonces: (signed) => listUnknownNonces(tx, network, signed),
    confirmWallets: (wallets, epoch) => confirmWallets(tx, wallets, epoch),
    doubtWallets: (wallets, entry) => doubtWallets(tx, network, wallets, entry),
    assign: (given, headNumber, at) => payments.assign(tx, given, headNumber, at),
    setTerms: (given, headNumber) => payments.setTerms(tx, given, headNumber),
    stopPayments: (stopped, at) => stopPayments(tx, stopped, at),
    keepTerms: (keys, headNumber) => payments.keepTerms(tx, keys, headNumber),
    storeAttempts: (attempts, headNumber, at) =>
      payments.storeAttempts(tx, network, attempts, headNumber, at),
    includePayments: (inclusions) => payments.includePayments(tx, inclusions),
    excludePayments: (keys, headNumber) => payments.excludePayments(tx, keys, headNumber),
    endPayments: (given) => payments.endPayments(tx, given),
    listBoundNonces: (wallets) => listBoundNonces(tx, wallets),
    listUnsignedNonces: (wallet) => listUnsignedNonces(tx, network, wallet),
    reclaimNonces: (wallet, given) => reclaimNonces(tx, wallet, given),
    listTaken: (wallet, below) => listTaken(tx, network, wallet, below),
    lockOpen: (keys) => lockOpen(tx, keys),
    listForgotten: (wallet, signed) => listForgotten(tx, network, wallet, signed),
    listAwaiting: (...given) => listAwaiting(tx, network, ...given),
    adoptNonce: (wallet, finalNonce) => adoptNonce(tx, wallet, finalNonce),
    insertLosses: (losses) => insertLosses(tx, network, losses),
    resumeWallet: (wallet) => resumeWallet(tx, wallet),
    putDeposits: (given) => deposits.putDeposits(tx, network, given),
    gather: (amounts) => deposits.gather(tx, amounts),
    setGathered: (amounts) => deposits.setGathered(tx, amounts),
    touchWallets: (wallets) => payments.touchWallets(tx, wallets),
    passOver: (wallets, at) => passOver(tx, wallets, at),
    writeHoldings: (wallets, holdings, at) => writeHoldings(tx, wallets, holdings, at),
    appendBlocks: (followed) => blocks.appendBlocks(tx, network, followed),
    removeBlocks: (above) => blocks.removeBlocks(tx, network, above),
    settle: (number) => blocks.settle(tx, network, number),
    haltNetwork: (halt) => blocks.haltNetwork(tx, network, halt),
    haltWallet: (wallet, halt, statedNonce) => blocks.haltWallet(tx, wallet, halt, statedNonce),
  };
}

/** Served by the unique key on the address: a million wallets cost no memory. */
async function findWallets(
  source: KeyedQueryable,
  network: string,
  addresses: readonly string[],
): Promise<ReadonlyMap<string, WalletKey>> {
  if (addresses.length === 0) return new Map();
  const rows = await source.query<SealedAddress & RowMac>(sql`
    SELECT w.address, w.shown, w.network, w.key_id AS "keyId", w.mac, w.tenant_id AS "tenantId", w.wallet_id AS "walletId"
    FROM unnest(${[...addresses]}::text[]) AS given (address) CROSS JOIN LATERAL (
      SELECT * FROM chain_wallets w WHERE w.address = given.address AND w.network = ${network} LIMIT 1) AS w
  `);
  const forged = rows.find((row) => !isAddressAuthentic(requireKeys(source), row, row));
  // Whose deposit it is is not known. The network waits until the row is restored, and then goes on at the same block.
  if (forged !== undefined)
    throw new Error(
      `the address ${forged.address} of the wallet ${forged.walletId} was changed in the database by something other than Bursar: restore the row from a backup`,
    );
  return new Map(rows.map(({ address, tenantId, walletId }) => [address, { tenantId, walletId }]));
}
