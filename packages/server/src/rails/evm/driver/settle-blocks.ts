import type { ChainDeposit } from "../../../app/chain/chain-deposit.js";
import { type BlockRef, NodesDisagreeError, NodeUnavailableError } from "../../../app/chain/chain-node.js";
import type { ChainUnit, IncludedPayment, WalletKey } from "../../../app/chain/chain-store.js";
import { endOfStop } from "../../../app/chain/stop-payment.js";
import type { GatheredAmount } from "../../../app/chain/wallet-books.js";
import type { ObservedDeposit, RailEvent } from "../../../app/rails/record-rail-events.js";
import { reorganisedAway } from "./apply-blocks.js";
import { confirmInherited } from "./confirm-inherited.js";
import {
  type DriverContext,
  type FollowContext,
  type FollowedChain,
  followedAt,
  inUnit,
  isFollowed,
  positionOf,
  type RecordInUnit,
  settledOf,
} from "./driver-context.js";
import { isFaultOfRows, isolateWallets } from "./isolate-wallets.js";
import { leaveBlocks } from "./leave-blocks.js";

/** How many blocks one SQL transaction settles, and how many payments or deposits in them; a single block can have more. */
const blocksMax = 32;
const rowsMax = 1000;
/** How long a deposit that a reorganisation has taken out may come back, in final blocks. */
const returnBlocks = 16;

/**
 * Ends what is in blocks that are final now: payments, deposits, and deposits that did not come back; as much as there is time for. The final
 * block must have been followed: by its number alone, blocks of another branch would be settled. Returns the first fault that could not be
 * recorded as a halt of its wallet. It is to be thrown after the rest of the step, which does not depend on it.
 */
export async function settleBlocks(
  context: FollowContext,
  chain: FollowedChain,
  final: BlockRef,
  endsMs: number,
): Promise<unknown> {
  if (!isFollowed(chain, final))
    throw new Error(`the block ${final.number} (${final.hash}) is final and was not followed`);
  let fault: unknown;
  while (settledOf(chain).number < final.number) {
    await chain.keepLease();
    const next = settledOf(chain).number + 1;
    const upTo = Math.min(final.number, next + blocksMax - 1);
    await assertFinal(context, chain, next, upTo);
    const last = await confirmInherited(context, chain, upTo);
    if (last < next) return fault;
    const settled = await settleTogether(context, chain, { next, last }).catch((error) => {
      if (!isFaultOfRows(context, error)) throw error;
      return settleApart(context, chain, { next, last });
    });
    fault ??= settled.fault;
    chain.tail = chain.tail.filter((block) => block.number >= settled.number);
    if (context.monotonicMs() >= endsMs) break;
  }
  return fault;
}

/**
 * That one block follows another is what a single node says: it can put blocks of its own below one that others have. So two nodes must name each
 * block that is settled. If they name others, those that were followed are left and read again.
 */
async function assertFinal(
  context: DriverContext,
  chain: FollowedChain,
  next: number,
  last: number,
): Promise<void> {
  const numbers = Array.from({ length: last - next + 1 }, (_, index) => next + index);
  for (const { number, hash } of await context.node.finalHeaders(numbers)) {
    if (followedAt(chain, number)?.hash === hash) {
      if (!context.node.isToConfirm(hash)) continue;
      // The nodes have named another one in its place when those up to the final block were confirmed.
      throw new NodeUnavailableError(
        `Two nodes must confirm what is in block ${number} of ${context.network.network}, which is final as ${hash}.`,
      );
    }
    await leaveBlocks(context, chain, number - 1);
    throw new NodesDisagreeError(
      `Block ${number} of ${context.network.network} is final as ${hash}, and a node has given another one. The blocks from it on are read again.`,
    );
  }
}

/** The first block that is not settled, and the last one that can be. */
interface Span {
  next: number;
  last: number;
}

interface Settled {
  /** The last block that was settled. */
  number: number;
  fault?: unknown;
}

function settleTogether(context: DriverContext, chain: FollowedChain, span: Span): Promise<Settled> {
  return inUnit(context, positionOf(chain), async (unit, record) => {
    const { number, ...rows } = await listFinal(unit, span);
    await settleRows(context, unit, record, rows);
    unit.settle(number);
    return { number };
  });
}

/**
 * Something in these blocks cannot be settled. It must not hold up the others, so the blocks count as settled first. What is in them is then
 * settled by wallets, and those at fault are halted: their rows stay as they are. If this ends early, the next block settles the rest.
 */
async function settleApart(context: DriverContext, chain: FollowedChain, span: Span): Promise<Settled> {
  const { number, wallets } = await inUnit(context, positionOf(chain), async (unit) => {
    const { number: settled, payments, deposits, left } = await listFinal(unit, span);
    unit.settle(settled);
    return { number: settled, wallets: distinctWallets([...payments, ...deposits, ...left]) };
  });
  const settleSome = async (some: readonly WalletKey[]) => {
    await chain.keepLease();
    const ids = new Set(some.map(({ walletId }) => walletId));
    const isOfSome = ({ walletId }: WalletKey) => ids.has(walletId);
    await inUnit(context, positionOf(chain), async (unit, record) => {
      const { payments, deposits, left } = await listFinal(unit, { next: number, last: number });
      const rows = { payments: payments.filter(isOfSome), deposits: deposits.filter(isOfSome) };
      await settleRows(context, unit, record, { ...rows, left: left.filter(isOfSome) });
    });
  };
  const halt = { code: "SETTLEMENT_FAILED", reason: "One of its transactions cannot be settled" } as const;
  try {
    await isolateWallets(context, chain, wallets, (wallet) => wallet, settleSome, halt);
    return { number };
  } catch (fault) {
    if (!isFaultOfRows(context, fault)) throw fault;
    return { number, fault };
  }
}

/** What ends when a block is final. */
interface FinalRows {
  payments: IncludedPayment[];
  deposits: ChainDeposit[];
  left: ChainDeposit[];
}

/**
 * What is to be settled up to a block that bounds it. What could not be settled before is left out until its wallet is resumed, and rows whose
 * wallet does not exist are never listed: there is nothing that could be halted for them. A metric and `bursar audit chain` show them.
 */
async function listFinal(unit: ChainUnit, { next, last }: Span): Promise<FinalRows & { number: number }> {
  const without = await unit.listSettlementFailed();
  const number = Math.max(next, await unit.limitBlocks(last, rowsMax, without));
  const payments = await unit.listIncluded({ upTo: number, without });
  const deposits = await unit.listSeen({ upTo: number, without });
  return { number, payments, deposits, left: await listGone(unit, number - returnBlocks, without) };
}

async function settleRows(
  context: DriverContext,
  unit: ChainUnit,
  record: RecordInUnit,
  { payments, deposits, left }: FinalRows,
): Promise<void> {
  const changed = distinctWallets([...payments, ...deposits]);
  unit.lockWallets(changed);
  const gathered = await gatherSmall(context, unit, deposits);
  const records = {
    events: [
      ...payments.flatMap((payment) => endOf(payment, context.network.coin)),
      ...deposits.flatMap(creditOf),
      ...left.flatMap(({ tenantId, transactionId }) =>
        transactionId === null ? [] : [reorganisedAway(tenantId, transactionId)],
      ),
    ],
    deposits: gathered.observed,
  };
  if (records.events.length > 0 || records.deposits.length > 0) await record(records);
  unit.endPayments(payments);
  unit.setGathered(gathered.credited.map((one) => ({ ...one, amount: 0n })));
  unit.putDeposits([
    ...deposits.map((one) => ({ ...one, state: stateOfFinal(one) })),
    ...left.map((one) => ({ ...one, state: "removed" as const })),
  ]);
  unit.touchWallets(changed);
}

/** Deposits that do not come back. What a payment of another tenant of ours pays can, as long as that payment is open. */
async function listGone(unit: ChainUnit, upTo: number, without: readonly string[]): Promise<ChainDeposit[]> {
  const left = await unit.listLeft(upTo, without);
  if (left.length === 0) return left;
  const attempts = await unit.findAttempts([...new Set(left.map(({ hash }) => hash))]);
  const open = new Set(attempts.filter(({ stage }) => stage !== "over").map(({ hash }) => hash));
  return left.filter(({ hash }) => !open.has(hash));
}

/** What becomes of a payment is what the chain has done, whatever was asked for: a cancellation can come too late. */
function endOf(payment: IncludedPayment, coin: string): RailEvent[] {
  const {
    tenantId,
    id,
    hash,
    block,
    purpose,
    succeeded,
    fee: charged,
    feeHeld,
    stopReason,
    stoppedBy,
  } = payment;
  const fee = { asset: coin, amount: charged };
  // The hold is a bound. If a network charges more for its data than it can have, the books follow as far as the wallet has it.
  const raise: RailEvent[] = charged > feeHeld ? [{ tenantId, id, event: { kind: "reserve_fee", fee } }] : [];
  const end = { tenantId, id, limitsFee: true };
  if (purpose === "cancellation")
    return [...raise, { ...end, event: { ...endOfStop(stopReason), fee }, causedBy: stoppedBy }];
  if (succeeded) return [...raise, { ...end, event: { kind: "finalise", fee }, includedBy: { hash, block } }];
  return [...raise, { ...end, event: { kind: "fail", failure: "EXECUTION_REVERTED", fee } }];
}

function creditOf({ tenantId, transactionId: id, hash, block }: ChainDeposit): RailEvent[] {
  if (id === null || block === null) return [];
  return [{ tenantId, id, event: { kind: "finalise", fee: null }, includedBy: { hash, block } }];
}

function stateOfFinal({ transactionId }: ChainDeposit): "credited" | "gathered" {
  return transactionId === null ? "gathered" : "credited";
}

/** Deposits below the minimum are gathered; when they reach it together, they are one deposit, with the hash of the last of them. */
async function gatherSmall(
  context: DriverContext,
  unit: ChainUnit,
  deposits: readonly ChainDeposit[],
): Promise<Credits> {
  const small = deposits.filter(({ transactionId }) => transactionId === null);
  return await creditGathered(context, unit, small, ({ walletId, asset }) => {
    const last = small.findLast((one) => one.walletId === walletId && one.asset === asset);
    if (last === undefined || last.block === null) throw new Error("what was gathered has no deposit");
    // The last one alone may have been a deposit of its own in a block that has left the chain, with another amount.
    const identity = `gathered ${walletId} ${asset} ${last.hash} ${last.ordinal}`;
    return { receipt: { hash: last.hash, block: last.block }, ordinal: last.ordinal, identity };
  });
}

interface Credits {
  credited: GatheredAmount[];
  observed: ObservedDeposit[];
}

/** Gathers amounts, and says which sums are credited now. */
export async function creditGathered(
  { network: { depositMinimum } }: Pick<DriverContext, "network">,
  unit: Pick<ChainUnit, "gather">,
  amounts: readonly GatheredAmount[],
  originOf: (sum: GatheredAmount) => Pick<ObservedDeposit, "receipt" | "ordinal" | "identity">,
): Promise<Credits> {
  const sums = await unit.gather(addUp(amounts));
  const credited = sums.filter(({ asset, amount }) => amount >= (depositMinimum.get(asset) ?? 0n));
  const observed = credited.map((sum) => ({ ...sum, fromAddress: null, isFinal: true, ...originOf(sum) }));
  return { credited, observed };
}

function addUp(amounts: readonly GatheredAmount[]): GatheredAmount[] {
  const sums = new Map<string, GatheredAmount>();
  for (const { tenantId, walletId, asset, amount } of amounts) {
    const name = `${walletId} ${asset}`;
    sums.set(name, { tenantId, walletId, asset, amount: amount + (sums.get(name)?.amount ?? 0n) });
  }
  return [...sums.values()];
}

function distinctWallets(keys: readonly WalletKey[]): WalletKey[] {
  return [...new Map(keys.map(({ tenantId, walletId }) => [walletId, { tenantId, walletId }])).values()];
}
