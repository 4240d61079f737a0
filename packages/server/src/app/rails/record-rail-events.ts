import {
  type AccountKey,
  type AssetAmount,
  type AssetRegistry,
  accountName,
  decideOnBalances,
  externalAccountId,
  feeCover,
  type Receipt,
  type TransactionEvent,
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
  type SettlementUnit,
  type TransactionKey,
} from "../transactions/settlement.js";
import type { RailTransactionEvent } from "./rail.js";

/** Something that happened to a transaction on its network. */
export interface RailEvent extends TransactionKey {
  /** The version of the transaction that the driver has seen; left out by a driver that holds the lease of its network. */
  version?: number;
  event: RailTransactionEvent;
  /** What is recorded instead, if the source does not have what the event would hold. */
  otherwise?: RailTransactionEvent;
  /** If the books do not have the transaction in a block yet, it is included with this receipt first. */
  includedBy?: Receipt;
  /** Of a fee that is above what covers it, only that is posted. */
  limitsFee?: boolean;
  /** The client or the operator that has caused it; left out if the network has. */
  causedBy?: string | null;
}

/**
 * `stale`: the transaction has another version, so that the event was recorded before, or no longer follows; the driver reads it again.
 * `insufficient`: the source does not have what the fee would hold. `impossible`: the event does not follow from the transaction's state,
 * which is a fault of the driver. In these cases nothing has changed, and the other events of the call are recorded.
 */
type RailEventOutcome = "recorded" | "stale" | "insufficient" | "impossible";

/** What was to be recorded does not follow from what the database has about a transaction. Nothing was written. */
export class PaymentFaultError extends Error {}

/** A transfer to a wallet that was seen on a network. */
export interface ObservedDeposit {
  tenantId: string;
  walletId: string;
  asset: string;
  amount: bigint;
  /** Where it came from; null if the network does not say. */
  fromAddress: string | null;
  receipt: Receipt | { hash: null; block: Receipt["block"] };
  /** Which of the transfers of that hash this is. */
  ordinal: number;
  /** What makes it unique on its network, if hash and ordinal do not. */
  identity?: string;
  /** It is credited at once. */
  isFinal?: boolean;
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
  const { settlements, onChanged } = deps;
  return {
    recordEvents: async (network, events) => {
      const keys = new Set(events.map(({ tenantId, id }) => `${tenantId} ${id}`));
      if (keys.size < events.length) throw new Error("two events are about the same transaction");
      if (events.length === 0) return [];
      const { outcomes } = await settlements.unitOfWork((unit) =>
        recordOnRail(deps, unit, network, { events, deposits: [] }),
      );
      onChanged(events.filter((_, index) => outcomes[index] === "recorded").map(({ id }) => id));
      return outcomes;
    },
    recordDeposits: async (network, deposits) => {
      if (deposits.length === 0) return [];
      const { depositIds } = await settlements.unitOfWork((unit) =>
        recordOnRail(deps, unit, network, { events: [], deposits }),
      );
      const recorded = depositIds.filter((id) => id !== undefined);
      onChanged(recorded);
      return recorded;
    },
  };
}

/** What happened on a network. Events about the same transaction follow each other in the order given. */
export interface RailRecords {
  events: readonly RailEvent[];
  deposits: readonly ObservedDeposit[];
}

interface RecordedOnRail {
  /** In the order of the events. */
  outcomes: RailEventOutcome[];
  /** In the order of the deposits; undefined for those that were recorded before. */
  depositIds: (string | undefined)[];
}

type RailUnit = Pick<SettlementUnit, "claimOnRail" | "insertDeposits" | "lockAccounts" | "write">;

/**
 * Records within a unit of work, so that a driver can write rows of its own in the same SQL transaction. Once for each unit: the event log
 * is locked by the end of it, and what is locked afterwards would be out of order.
 */
export async function recordOnRail(
  deps: Pick<RecordRailEventsDeps, "assets" | "newUuid" | "now">,
  unit: RailUnit,
  network: string,
  { events, deposits }: RailRecords,
): Promise<RecordedOnRail> {
  const claimed = events.length === 0 ? [] : await unit.claimOnRail(network, distinctKeys(events));
  assertOnNetwork(deps.assets, network, claimed);
  const rows = deposits.map((deposit) => toRow(deps, network, deposit));
  const isNew: ReadonlySet<string> = rows.length === 0 ? new Set() : await unit.insertDeposits(rows);
  const created = rows.filter(({ id }) => isNew.has(id)).map((row) => asClaimed(row, network));
  const balances = await unit.lockAccounts(accountsWithFees([...claimed, ...created], events));
  const settled: Settlement[] = [];
  const current = new Map([...claimed, ...created].map((transaction) => [transaction.id, transaction]));
  const record = (
    id: string,
    event: TransactionEvent,
    causedBy?: string | null,
  ): ReturnType<typeof decideOnBalances> => {
    const transaction = current.get(id) as ClaimedTransaction;
    const decision = decideOn(transaction, event, balances);
    if (typeof decision === "string") return decision;
    settled.push(settlementOf(transaction, decision, causedBy ?? null, deps.now()));
    const { state, version, feeHold } = decision;
    current.set(id, { ...transaction, state, version, feeHold } as ClaimedTransaction);
    return decision;
  };
  const outcomes = events.map((given): RailEventOutcome => {
    const { id, version, event, otherwise, includedBy, limitsFee, causedBy } = given;
    const transaction = current.get(id);
    if (transaction === undefined || (version !== undefined && transaction.version !== version))
      return "stale";
    if (includedBy !== undefined && transaction.state === "broadcast")
      assertDecided(record(id, { kind: "include", receipt: includedBy }));
    const decision = record(id, limitsFee === true ? limitFee(event, transaction) : event, causedBy);
    if (decision === "insufficient" && otherwise !== undefined) assertDecided(record(id, otherwise));
    return typeof decision === "string" ? decision : "recorded";
  });
  for (const { id, receipt, isFinal } of rows.filter((row) => isNew.has(row.id))) {
    assertDecided(record(id, { kind: "observe", receipt }));
    if (isFinal === true) assertDecided(record(id, { kind: "finalise", fee: null }));
  }
  if (settled.length > 0) await unit.write(settled, balances);
  return { outcomes, depositIds: rows.map(({ id }) => (isNew.has(id) ? id : undefined)) };
}

/** The decision is pure, so an error of it, such as a hold that is too small, is about what the database has about this transaction. */
function decideOn(
  transaction: ClaimedTransaction,
  event: TransactionEvent,
  balances: Parameters<typeof decideOnBalances>[2],
): ReturnType<typeof decideOnBalances> {
  if (transaction.isTampered === true)
    throw new PaymentFaultError(
      `the deposit ${transaction.id} was changed in the database by something other than Bursar, or inserted into it`,
    );
  try {
    return decideOnBalances(transaction, event, balances);
  } catch (error) {
    const what = `${event.kind} of the transaction ${transaction.id} is impossible`;
    throw new PaymentFaultError(`${what}: ${(error as Error).message}`, { cause: error });
  }
}

function assertDecided(decision: ReturnType<typeof decideOnBalances>): void {
  if (typeof decision === "string")
    throw new PaymentFaultError(`what a network did cannot be recorded: ${decision}`);
}

function limitFee(event: RailTransactionEvent, transaction: ClaimedTransaction): RailTransactionEvent {
  if (!("fee" in event) || event.fee === null || event.kind === "reserve_fee") return event;
  const cover = feeCover(transaction, event.kind === "finalise" ? "completed" : "failed");
  return cover === null || cover.amount >= event.fee.amount ? event : { ...event, fee: cover };
}

function distinctKeys(events: readonly RailEvent[]): TransactionKey[] {
  return [...new Map(events.map(({ tenantId, id }) => [`${tenantId} ${id}`, { tenantId, id }])).values()];
}

/** A driver that records for another network would hold and post its fees in the wrong external account. */
function assertOnNetwork(
  assets: AssetRegistry,
  network: string,
  claimed: readonly ClaimedTransaction[],
): void {
  const foreign = claimed.find(({ asset }) => assets.find(asset)?.network !== network);
  if (foreign !== undefined)
    throw new PaymentFaultError(
      `the transaction ${foreign.id} in ${foreign.asset} is not on the network ${network}`,
    );
}

/** Clocks differ; nothing happens before a transaction was accepted. */
function settlementOf(
  transaction: ClaimedTransaction,
  decision: NonNullable<Settlement["decision"]>,
  causedBy: string | null,
  nowMs: number,
): Settlement {
  const occurredAt = new Date(Math.max(nowMs, transaction.createdAt.getTime()));
  // The network decides whether a cancellation succeeds; it was caused by the client that requested it.
  const requestedBy = decision.state === "cancelled" ? transaction.cancelRequestedBy : null;
  const actorId = causedBy ?? requestedBy ?? null;
  return { transaction, decision, occurredAt, dueAt: null, judgement: null, actorId };
}

/** The accounts of the amounts, and of every fee that is held, reserved or charged: the source's and that of the outside. */
function accountsWithFees(
  claimed: readonly ClaimedTransaction[],
  events: readonly RailEvent[],
): AccountKey[] {
  const keys = new Map(accountsOf(claimed).map((key) => [accountName(key), key]));
  const feesById = new Map<string, AssetAmount[]>();
  for (const { id, event } of events)
    if ("fee" in event && event.fee !== null) feesById.set(id, [...(feesById.get(id) ?? []), event.fee]);
  for (const { id, tenantId, sourceAccountId, network, feeHold } of claimed) {
    for (const fee of [feeHold, ...(feesById.get(id) ?? [])]) {
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
  { assets, newUuid }: Pick<RecordRailEventsDeps, "assets" | "newUuid">,
  network: string,
  deposit: ObservedDeposit,
): NewDeposit & Pick<ObservedDeposit, "receipt" | "isFinal"> {
  const { tenantId, walletId, asset: code, amount, fromAddress, receipt } = deposit;
  const asset = assets.find(code);
  if (asset === undefined || asset.network !== network)
    throw new PaymentFaultError(`the asset ${code} is not on the network ${network}`);
  const identity = deposit.identity ?? `${receipt.hash} ${deposit.ordinal}`;
  const idempotencyKey = `deposit ${network} ${identity}`;
  const id = newUuid();
  return {
    tenantId,
    id,
    clientId: null,
    idempotencyKey,
    requestHash: hashRequest({ deposit: idempotencyKey }),
    reference: receipt.hash ?? `block ${receipt.block.number}`,
    asset: asset.code,
    amount,
    sourceAccountId: externalAccountId(network),
    sourceAddress: fromAddress,
    destinationAccountId: walletId,
    metadata: null,
    createdAt: new Date(timeOfUuidV7(id)),
    receipt,
    isFinal: deposit.isFinal === true,
  };
}
