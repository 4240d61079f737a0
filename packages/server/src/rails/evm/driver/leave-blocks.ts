import { type DriverContext, type FollowedChain, haltNetwork, positionOf, tipOf } from "./driver-context.js";
import { type FactsUnit, type WalletEvent, writeFacts } from "./write-facts.js";

/** How many blocks leave in one SQL transaction, the newest first. */
const blocksMax = 8;
/** How many payments, and how many deposits, one SQL transaction takes out of the chain when the blocks are not known. */
const rowsMax = 1000;

/** The blocks above this number have left the chain. What was in them is where it was before: sent, and in no block. */
export async function leaveBlocks(
  context: DriverContext,
  chain: FollowedChain,
  above: number,
): Promise<void> {
  while (tipOf(chain).number > above) {
    const kept = Math.max(above, tipOf(chain).number - blocksMax);
    const { haltAtFault } = await writeFacts(context, chain, async (facts) => {
      await exclude(facts, kept, chain);
      facts.unit.removeBlocks(kept);
    });
    chain.tail = chain.tail.filter(({ number }) => number <= kept);
    chain.inheritedTo = Math.min(chain.inheritedTo, kept);
    for (const number of chain.confirmedFaults) if (number > kept) chain.confirmedFaults.delete(number);
    await haltAtFault();
  }
}

/** Halts the network if its nodes are on another chain than before. */
export async function assertGenesis(
  context: DriverContext,
  chain: FollowedChain,
  expected: string,
): Promise<void> {
  const named = await context.node.header(0);
  if (named === undefined || named.hash === expected) return;
  // One node alone may be wrong.
  const [genesis] = await context.node.finalHeaders([0]);
  if (genesis === undefined || genesis.hash === expected) return;
  const reason = `Its first block is ${genesis.hash}, and it was ${expected} before: this is another chain.`;
  await haltNetwork(context, positionOf(chain), "CHAIN_REPLACED", reason);
}

/**
 * Begins again at the settled block, as the chain has it now: after the operator has resumed a network that was halted, so that what was final
 * before may not be on the chain any more. What was in later blocks is taken out of the chain first. There is no block until that is done, so a process that ends meanwhile goes on with it.
 */
export async function anchorChain(
  context: DriverContext,
  chain: FollowedChain,
  number: number,
): Promise<void> {
  context.node.forgetFinal();
  const [settled] = await context.node.finalHeaders([number]);
  if (settled === undefined) throw new Error(`no node has the block ${number} that was settled`);
  const { hash, parentHash } = settled;
  const leaveSome = () =>
    writeFacts(context, chain, async (facts) => {
      const { hasMore } = await exclude(facts, number, chain);
      const { unit } = facts;
      if (hasMore) return false;
      unit.removeBlocks(-1);
      unit.appendBlocks([{ number, hash, parentHash }]);
      return true;
    });
  for (let isDone = false; !isDone; ) {
    const { result, haltAtFault } = await leaveSome();
    isDone = result;
    if (isDone) chain.tail = [{ number, hash, parentHash }];
    await haltAtFault();
    await chain.keepLease();
  }
}

async function exclude(
  { unit, record, keep }: FactsUnit,
  above: number,
  { headNumber, tail }: FollowedChain,
): Promise<{ hasMore: boolean }> {
  // Blocks that are known leave a few at a time, and each of them was applied as a whole.
  const limit = tail.length === 0 ? rowsMax : null;
  const [included, seen] = [await unit.listIncluded({ above, limit }), await unit.listSeen({ above, limit })];
  const [payments, deposits] = [keep(included), keep(seen)];
  const events: WalletEvent[] = [];
  const reorganise = { kind: "reorganise" } as const;
  // A cancellation in a block is no event: the payment is still sent, until the cancellation is final.
  for (const { tenantId, walletId, id, purpose } of payments)
    if (purpose !== "cancellation") events.push({ tenantId, walletId, id, event: reorganise });
  for (const { tenantId, walletId, transactionId: id } of deposits)
    if (id !== null) events.push({ tenantId, walletId, id, event: reorganise });
  if (events.length > 0) await record({ events, deposits: [] });
  const leftNumber = tail.at(-1)?.number ?? headNumber;
  unit.excludePayments(payments, headNumber);
  unit.putDeposits(deposits.map((deposit) => ({ ...deposit, block: null, leftNumber })));
  return { hasMore: included.length === limit || seen.length === limit };
}
