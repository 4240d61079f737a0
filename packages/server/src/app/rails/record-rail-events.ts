import {
  type AccountKey,
  type AssetRegistry,
  accountName,
  decideOnBalances,
  externalAccountId,
  type Receipt,
  timeOfUuidV7,
} from "@bursar/domain";
import { asClaimed } from "../deposits/deposit.js";
import { hashRequest } from "../requests/idempotency.js";
import {
  accountsOf,
  type ClaimedTransaction,
  type NewDeposit,
  type Settlement,
  type SettlementStore,
  type TransactionKey,
} from "../transactions/settlement.js";
import type { RailTransactionEvent } from "./rail.js";

/** Something that happened to a transaction on its network. */
export interface RailEvent extends TransactionKey {
  /** The version of the transaction that the driver has seen. */
  version: number;
  event: RailTransactionEvent;
}

/**
 * `stale`: the transaction has another version, so that the event was recorded before, or no longer follows; the driver reads it again.
 * `insufficient`: the source does not have what the fee would hold. `impossible`: the event does not follow from the transaction's state,
 * which is a fault of the driver. In these cases nothing has changed, and the other events of the call are recorded.
 */
type RailEventOutcome = "recorded" | "stale" | "insufficient" | "impossible";

/** A transfer to a wallet that was seen on a network. */
interface ObservedDeposit {
  tenantId: string;
  walletId: string;
  asset: string;
  amount: bigint;
  /** Where it came from; null if the network does not say. */
  fromAddress: string | null;
  receipt: Receipt;
  /** Which of the transfers of that hash this is. */
  ordinal: number;
}

export interface RecordRailEventsDeps {
  settlements: Pick<SettlementStore, "unitOfWork">;
  assets: AssetRegistry;
  /** Called after each commit, with the transactions that have changed. */
  onChanged: (ids: readonly string[]) => void;
  newUuid: () => string;
  now: () => number;
}

/** What the driver of a rail records. Each call is one SQL transaction, and harmless to repeat. */
export interface RailRecorder {
  /** In the order given, at most one for each transaction. */
  recordEvents: (network: string, events: readonly RailEvent[]) => Promise<RailEventOutcome[]>;
  /** Those that are new become transactions in `confirming`; returns their ids. */
  recordDeposits: (network: string, deposits: readonly ObservedDeposit[]) => Promise<string[]>;
}

export function createRailRecorder(deps: RecordRailEventsDeps): RailRecorder {
  const { settlements, onChanged, now } = deps;
  return {
    recordEvents: async (network, events) => {
      const keys = new Set(events.map(({ tenantId, id }) => `${tenantId} ${id}`));
      if (keys.size < events.length) throw new Error("two events are about the same transaction");
      if (events.length === 0) return [];
      const outcomes = await settlements.unitOfWork(async (unit) => {
        const claimed = await unit.claimOnRail(network, events);
        assertOnNetwork(deps.assets, network, claimed);
        const byId = new Map(claimed.map((transaction) => [transaction.id, transaction]));
        const balances = await unit.lockAccounts(accountsWithFees(claimed, events));
        const settled: Settlement[] = [];
        const recorded = events.map(({ id, version, event }): RailEventOutcome => {
          const transaction = byId.get(id);
          if (transaction === undefined || transaction.version !== version) return "stale";
          const decision = decideOnBalances(transaction, event, balances);
          if (typeof decision === "string") return decision;
          settled.push(settlementOf(transaction, decision, now()));
          return "recorded";
        });
        if (settled.length > 0) await unit.write(settled, balances);
        return recorded;
      });
      onChanged(events.filter((_, index) => outcomes[index] === "recorded").map(({ id }) => id));
      return outcomes;
    },
    recordDeposits: async (network, deposits) => {
      if (deposits.length === 0) return [];
      const rows = deposits.map((deposit) => toRow(deps, network, deposit));
      const recorded = await settlements.unitOfWork(async (unit) => {
        const isNew = await unit.insertDeposits(rows);
        const fresh = rows.filter(({ id }) => isNew.has(id));
        if (fresh.length === 0) return [];
        const claimed = fresh.map((row) => asClaimed(row, network));
        const balances = await unit.lockAccounts(accountsOf(claimed));
        const settled = fresh.map(({ receipt }, index) => {
          const deposit = claimed[index] as ClaimedTransaction;
          const decision = decideOnBalances(deposit, { kind: "observe", receipt }, balances);
          if (typeof decision === "string") throw new Error(`observing a deposit is ${decision}`);
          return settlementOf(deposit, decision, now());
        });
        await unit.write(settled, balances);
        return fresh.map(({ id }) => id);
      });
      onChanged(recorded);
      return recorded;
    },
  };
}

/** A driver that records for another network would hold and post its fees in the wrong external account. */
function assertOnNetwork(
  assets: AssetRegistry,
  network: string,
  claimed: readonly ClaimedTransaction[],
): void {
  const foreign = claimed.find(({ asset }) => assets.find(asset)?.network !== network);
  if (foreign !== undefined)
    throw new Error(`the transaction ${foreign.id} in ${foreign.asset} is not on the network ${network}`);
}

/** Clocks differ; nothing happens before a transaction was accepted. */
function settlementOf(
  transaction: ClaimedTransaction,
  decision: NonNullable<Settlement["decision"]>,
  nowMs: number,
): Settlement {
  const occurredAt = new Date(Math.max(nowMs, transaction.createdAt.getTime()));
  // The network decides whether a cancellation succeeds; it was caused by the client that requested it.
  const actorId = decision.state === "cancelled" ? (transaction.cancelRequestedBy ?? null) : null;
  return { transaction, decision, occurredAt, dueAt: null, judgement: null, actorId };
}

/** The accounts of the amounts, and of every fee that is held, reserved or charged: the source's and that of the outside. */
function accountsWithFees(
  claimed: readonly ClaimedTransaction[],
  events: readonly RailEvent[],
): AccountKey[] {
  const keys = new Map(accountsOf(claimed).map((key) => [accountName(key), key]));
  const eventsById = new Map(events.map(({ id, event }) => [id, event]));
  for (const { id, tenantId, sourceAccountId, network, feeHold } of claimed) {
    const event = eventsById.get(id);
    const fees = [feeHold, event !== undefined && "fee" in event ? event.fee : null];
    for (const fee of fees) {
      if (fee === null) continue;
      for (const accountId of [sourceAccountId, externalAccountId(network)]) {
        const key = { tenantId, accountId, asset: fee.asset };
        keys.set(accountName(key), key);
      }
    }
  }
  return [...keys.values()];
}

/** A client's key has no spaces, so none can occupy a deposit's; and the same deposit has the same key whenever it is seen. */
function toRow(
  { assets, newUuid }: RecordRailEventsDeps,
  network: string,
  deposit: ObservedDeposit,
): NewDeposit & Pick<ObservedDeposit, "receipt"> {
  const { tenantId, walletId, asset: code, amount, fromAddress, receipt, ordinal } = deposit;
  const asset = assets.find(code);
  if (asset === undefined || asset.network !== network)
    throw new Error(`the asset ${code} is not on the network ${network}`);
  const idempotencyKey = `deposit ${network} ${receipt.hash} ${ordinal}`;
  const id = newUuid();
  return {
    tenantId,
    id,
    clientId: null,
    idempotencyKey,
    requestHash: hashRequest({ deposit: idempotencyKey }),
    reference: receipt.hash,
    asset: asset.code,
    amount,
    sourceAccountId: externalAccountId(network),
    sourceAddress: fromAddress,
    destinationAccountId: walletId,
    metadata: null,
    createdAt: new Date(timeOfUuidV7(id)),
    receipt,
  };
}
