import type { ChainNetwork } from "../../../app/chain/chain-network.js";
import type { ChainBlock } from "../../../app/chain/chain-node.js";
import type { ChainUnit, FoundAttempt, WalletKey } from "../../../app/chain/chain-store.js";
import { depositsOfBlock, inclusionsOf } from "../block/contents-of-block.js";
import {
  type DriverContext,
  type FollowedChain,
  haltWallet,
  inUnit,
  positionOf,
  settledOf,
  watchOf,
} from "./driver-context.js";
import { messageOf, paymentAtFault } from "./isolate-wallets.js";
import { leaveBlocks } from "./leave-blocks.js";

/**
 * What was read from a block that was not final comes from one node. The process that has read it has it confirmed by a second one when the
 * block is final; but blocks can be inherited from a process that has ended. They are read again, as final blocks, which two nodes confirm,
 * and compared with what was written. If anything differs, all blocks that are not settled are left and read again. Returns the last block
 * that can be settled, at most `upTo`.
 */
export async function confirmInherited(
  context: DriverContext,
  chain: FollowedChain,
  upTo: number,
): Promise<number> {
  const settled = settledOf(chain).number;
  const to = Math.min(upTo, chain.inheritedTo);
  if (settled >= to) return upTo;
  const blocks = await context.node.finalBlocks(settled + 1, to, watchOf(context));
  for (const { number, hash } of blocks)
    if (chain.tail[number - settled]?.hash !== hash)
      throw new Error(`a node has answered with the block ${hash}, which is not the final block ${number}`);
  for (const number of chain.confirmedFaults) if (number <= settled) chain.confirmedFaults.delete(number);
  const compared = blocks.filter(({ number }) => !chain.confirmedFaults.has(number));
  const { differing, atFault } = await inUnit(context, positionOf(chain), (unit) =>
    compareWritten(context, unit, compared),
  );
  const { code, reason } = paymentAtFault;
  for (const { wallet, fault } of atFault.values())
    await haltWallet(context, chain, wallet, code, `${reason}: ${fault}.`);
  if (differing === undefined) return blocks.at(-1)?.number ?? settled;
  await leaveBlocks(context, chain, settled);
  throw new Error(
    `the block ${differing} has something else than was read from it before, so the blocks from ${settled + 1} on are read again`,
  );
}

/** Wallets whose payments cannot be processed, by their ids, and why. */
type AtFault = ReadonlyMap<string, { wallet: WalletKey; fault: string }>;

/** The number of a block whose payments and deposits are not the ones that were written, and the wallets that were left out. */
async function compareWritten(
  context: DriverContext,
  unit: ChainUnit,
  blocks: readonly ChainBlock[],
): Promise<{ differing: number | undefined; atFault: AtFault }> {
  const atFault = new Map<string, { wallet: WalletKey; fault: string }>();
  const last = blocks.at(-1);
  if (last === undefined) return { differing: undefined, atFault };
  const written = new Map<number, Set<string>>(blocks.map(({ number }) => [number, new Set()]));
  const range = { upTo: last.number, without: [] };
  for (const { block, hash, succeeded, fee } of await unit.listIncluded(range))
    written.get(block.number)?.add(`${hash} ${succeeded} ${fee}`);
  for (const { block, hash, ordinal, walletId, asset, amount } of await unit.listSeen(range))
    written.get(block?.number ?? -1)?.add(`${hash} ${ordinal} ${walletId} ${asset} ${amount}`);
  for (const block of blocks) {
    const shown = await linesOf(context, unit, block);
    for (const [walletId, one] of shown.atFault) atFault.set(walletId, one);
    const before = written.get(block.number);
    if (before?.size !== shown.lines.length || shown.lines.some((line) => !before.has(line)))
      return { differing: block.number, atFault };
  }
  return { differing: undefined, atFault };
}

/** What would be written about a block, without what has ended before. */
async function linesOf(
  context: DriverContext,
  unit: ChainUnit,
  block: ChainBlock,
): Promise<{ lines: string[]; atFault: AtFault }> {
  if (block.transfers.length === 0 && block.outcomes.length === 0) return { lines: [], atFault: new Map() };
  const { network } = context;
  const attempts = await unit.findAttempts([...new Set(block.outcomes.map(({ hash }) => hash))]);
  const atFault = findAtFault(network, block, attempts);
  const isWritten = ({ walletId }: WalletKey) => !atFault.has(walletId);
  const written = attempts.filter(isWritten);
  const found = await unit.findWallets([...new Set(block.transfers.map(({ to }) => to))]);
  const wallets = new Map([...found].filter(([, wallet]) => isWritten(wallet)));
  const received = depositsOfBlock(network, block, written, wallets);
  const credited = new Set(
    (await unit.findDeposits(received))
      .filter(({ state }) => state === "credited" || state === "gathered")
      .map(({ hash, ordinal }) => `${hash} ${ordinal}`),
  );
  const open = written.filter(({ stage }) => stage !== "over");
  const lines = [
    ...inclusionsOf(network, block, open).map(({ hash, succeeded, fee }) => `${hash} ${succeeded} ${fee}`),
    ...received
      .filter(({ hash, ordinal }) => !credited.has(`${hash} ${ordinal}`))
      .map(
        ({ hash, ordinal, wallet, asset, amount }) =>
          `${hash} ${ordinal} ${wallet.walletId} ${asset} ${amount}`,
      ),
  ];
  return { lines, atFault };
}

/**
 * The wallets that writing leaves out too. If something of them was written before that, the block differs, and is read again without them. They
 * are to be halted: while no second node had confirmed the block, they were not.
 */
function findAtFault(network: ChainNetwork, block: ChainBlock, attempts: readonly FoundAttempt[]): AtFault {
  return new Map(
    attempts.flatMap((attempt) => {
      const { tenantId, walletId } = attempt;
      try {
        inclusionsOf(network, block, [attempt]);
        return [];
      } catch (error) {
        return [[walletId, { wallet: { tenantId, walletId }, fault: messageOf(error) }] as const];
      }
    }),
  );
}
