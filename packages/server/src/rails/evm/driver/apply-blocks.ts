import type { ChainDeposit } from "../../../app/chain/chain-deposit.js";
import type { ChainNetwork } from "../../../app/chain/chain-network.js";
import type { ChainBlock } from "../../../app/chain/chain-node.js";
import type { FollowedBlock, FoundAttempt, Inclusion } from "../../../app/chain/chain-store.js";
import type { ObservedDeposit, RailEvent } from "../../../app/rails/record-rail-events.js";
import { type BlockDeposit, depositsOfBlock, inclusionsOf } from "../block/contents-of-block.js";
import { type DriverContext, type FollowedChain, tipOf } from "./driver-context.js";
import { type FactsUnit, type WalletEvent, writeFacts } from "./write-facts.js";

/**
 * Adds blocks to the chain, one SQL transaction for each that has something of ours. One node of several can make up anything in a block that no
 * second one has confirmed, so no wallet is halted for it: the block is read again when it is final, and then it is.
 */
export async function applyBlocks(
  context: DriverContext,
  chain: FollowedChain,
  blocks: readonly ChainBlock[],
  { isConfirmed }: { isConfirmed: boolean },
): Promise<void> {
  let empty: FollowedBlock[] = [];
  const append = async (appended: readonly FollowedBlock[], block: ChainBlock | undefined) => {
    if (appended.length === 0) return;
    const written = await writeFacts(context, chain, async (facts) => {
      if (block !== undefined) await applyBlock(context, facts, block);
      facts.unit.appendBlocks(appended);
    });
    chain.tail = [...chain.tail, ...appended];
    if (isConfirmed && written.hasFault) chain.confirmedFaults.add(tipOf(chain).number);
    if (isConfirmed || context.node.isAlone) await written.haltAtFault();
    else if (written.hasFault) chain.inheritedTo = Math.max(chain.inheritedTo, tipOf(chain).number);
  };
  for (const block of blocks) {
    const { number, hash, parentHash } = block;
    empty.push({ number, hash, parentHash });
    if (block.transfers.length === 0 && block.outcomes.length === 0) continue;
    chain.activeTo = number;
    await append(empty, block);
    empty = [];
  }
  await append(empty, undefined);
}

async function applyBlock(
  context: DriverContext,
  { unit, record, keep, isTolerant }: FactsUnit,
  block: ChainBlock,
): Promise<void> {
  const attempts = keep(await unit.findAttempts([...new Set(block.outcomes.map(({ hash }) => hash))]));
  const owned = await unit.findWallets([...new Set(block.transfers.map(({ to }) => to))]);
  const kept = new Set(keep([...owned.values()]));
  const wallets = new Map([...owned].filter(([, wallet]) => kept.has(wallet)));
  const payments = decideInclusions(context.network, block, attempts);
  // A request for higher fees holds such a row while it waits for the audit log, so none is locked behind the event log.
  await unit.lockIncluded(payments.inclusions);
  const received = depositsOfBlock(context.network, block, attempts, wallets);
  const known = await unit.findDeposits(received);
  const deposits = decideDeposits(context, block, received, { known, isTolerant });
  const depositIds = await record({
    events: [...payments.events, ...deposits.events],
    deposits: deposits.added.flatMap(({ observed }) => observed ?? []),
  });
  let next = 0;
  const added = deposits.added.map(({ row, observed }) => ({
    ...row,
    transactionId: observed === undefined ? null : (depositIds[next++] ?? null),
  }));
  unit.includePayments(payments.inclusions);
  unit.putDeposits([...deposits.kept, ...added]);
}

/** Which payments are in a block, and whether they have paid exactly what they should. */
function decideInclusions(
  network: ChainNetwork,
  block: Pick<ChainBlock, "number" | "hash" | "outcomes">,
  attempts: readonly FoundAttempt[],
): { events: WalletEvent[]; inclusions: Inclusion[] } {
  const inclusions = inclusionsOf(
    network,
    block,
    attempts.filter(({ stage }) => stage === "signed"),
  );
  const byHash = new Map(attempts.map((attempt) => [attempt.hash, attempt]));
  const events = inclusions.flatMap(({ hash, block: at }): WalletEvent[] => {
    const attempt = byHash.get(hash);
    if (attempt === undefined || attempt.purpose === "cancellation") return [];
    const { tenantId, walletId, id } = attempt;
    return [{ tenantId, walletId, id, event: { kind: "include", receipt: { hash, block: at } } }];
  });
  return { events, inclusions };
}

interface DecidedDeposits {
  events: WalletEvent[];
  /** Rows that exist, with their new block. */
  kept: ChainDeposit[];
  /** New rows; those with a transaction to record. */
  added: { row: Omit<ChainDeposit, "transactionId">; observed: ObservedDeposit | undefined }[];
}

interface KnownOfBlock {
  known: readonly ChainDeposit[];
  /** Whether writing the block has failed before. */
  isTolerant: boolean;
}

/** What a block has for wallets: new deposits, or ones that come back after a reorganisation, perhaps with another content. */
function decideDeposits(
  { recorder: { newUuid } }: Pick<DriverContext, "recorder">,
  { number, hash: blockHash }: Pick<ChainBlock, "number" | "hash">,
  received: readonly BlockDeposit[],
  { known, isTolerant }: KnownOfBlock,
): DecidedDeposits {
  const decided: DecidedDeposits = { events: [], kept: [], added: [] };
  const block = { number, hash: blockHash };
  const knownByKey = new Map(known.map((one) => [`${one.hash} ${one.ordinal}`, one]));
  for (const { wallet, hash, ordinal, asset, amount, from, isGathered } of received) {
    const before = knownByKey.get(`${hash} ${ordinal}`);
    if (
      before !== undefined &&
      before.state !== "removed" &&
      (before.state !== "seen" || before.block !== null)
    )
      continue;
    const receipt = { hash, block };
    const isSame =
      before?.state === "seen" &&
      before.walletId === wallet.walletId &&
      before.asset === asset &&
      before.amount === amount;
    if (before !== undefined && isSame) {
      decided.kept.push({ ...before, block, leftNumber: null });
      const { tenantId, walletId, transactionId: id } = before;
      if (id !== null) decided.events.push({ tenantId, walletId, id, event: { kind: "include", receipt } });
      continue;
    }
    // A contract can do something else in another block. The amount of a transaction never changes, so this is another deposit.
    if (before?.state === "seen" && before.transactionId !== null)
      decided.events.push({
        ...reorganisedAway(before.tenantId, before.transactionId),
        walletId: before.walletId,
      });
    const row = { ...wallet, hash, ordinal, asset, amount, block, leftNumber: null, state: "seen" as const };
    // The chain can change between two blocks and back, so neither of them makes it unique. A transaction whose row of the chain was deleted
    // has the usual identity, and was not credited.
    const isKnown = before !== undefined || isTolerant;
    const identity = isKnown ? { identity: `${hash} ${ordinal} ${newUuid()}` } : {};
    const observed = { ...wallet, asset, amount, fromAddress: from, receipt, ordinal, ...identity };
    decided.added.push({ row, observed: isGathered ? undefined : observed });
  }
  return decided;
}

export function reorganisedAway(tenantId: string, id: string): RailEvent {
  return { tenantId, id, event: { kind: "fail", failure: "DEPOSIT_REORGANISED", fee: null } };
}
