import { NodeUnavailableError } from "../../../../app/chain/chain-node.js";
import type {
  ComparedPage,
  ComparedWallet,
  GatheredAmount,
  ListedWallet,
  WalletBooks,
} from "../../../../app/chain/wallet-books.js";
import { acceptChain } from "../../adopt/accept-chain.js";
import {
  type DriverContext,
  type FollowedChain,
  haltInUnit,
  inUnit,
  positionOf,
  settledOf,
} from "../driver-context.js";
import { isolateWallets } from "../isolate-wallets.js";
import { creditGathered } from "../settle-blocks.js";
import { compareAll, isUsedElsewhere, type WalletOnChain } from "./compare-books.js";
import { type AheadWallet, includeOmitted } from "./include-omitted.js";
import { readChainApart } from "./read-chain.js";

/** How many wallets are compared at once, and how often one step does so. */
const walletsMax = 32;
const pagesMax = 4;
/** How many transactions one step looks for, of all wallets that are adopted: each reads a whole block from every node. */
const searchesMax = 128;
/** A wallet that nothing has happened to is compared again after this many blocks at the earliest. */
const compareEveryBlocks = 16;

/**
 * Called if no node shows which transactions have used the nonces of a wallet, so that its books cannot follow the chain yet, or nodes do not
 * say what it has.
 */
type OnLeftOut = (failure: NodeUnavailableError) => void;

export interface ComparedTurn {
  /** The last wallet of those that something has happened to that was compared; undefined if the next one is the first. */
  afterWalletId: string | undefined;
  /** The ids of wallets that could not be compared when it was their turn, or not with all that they have. */
  unread: Set<string>;
}

/**
 * Compares the books with the chain at the settled block, where both must be equal: everything up to it has ended, and nothing after it has
 * been posted. Coins that no block shows, as from a contract, are a surplus, and credited. A shortfall, or a nonce that somebody else has
 * used, halts the wallet. Wallets that something has happened to, and new ones, are compared first, in turn: those that are adopted can stay so for
 * many calls. Of the others, which can be a million, one page is compared in each call. What could not be settled is not in the books, so the wallets that pay or receive it are left out until it is.
 * Returns what is still to be compared at this settled block.
 */
export async function compareBalances(
  context: DriverContext,
  chain: FollowedChain,
  turn: ComparedTurn,
  onLeftOut: OnLeftOut,
): Promise<"touched" | "others" | "none"> {
  const accepted: SeenWallet[] = [];
  const compare = async (page: ComparedPage) => {
    const compared = await compareSome(context, chain, page, { turn, onLeftOut });
    accepted.push(...compared.accepted);
    return compared.lastWalletId;
  };
  const limit = walletsMax;
  const isInMiddle = turn.afterWalletId !== undefined;
  for (let pages = 0; pages < pagesMax; pages++) {
    turn.afterWalletId = await compare({ of: "touched", afterWalletId: turn.afterWalletId, limit });
    if (turn.afterWalletId === undefined) break;
    await chain.keepLease();
  }
  const hasTouched = isInMiddle || turn.afterWalletId !== undefined;
  const beforeNumber = settledOf(chain).number - compareEveryBlocks;
  const hasMore = (await compare({ of: "others", beforeNumber, limit })) !== undefined;
  await acceptAll(context, chain, accepted, onLeftOut);
  // What was accepted is compared once more: its nonces come before its money.
  if (hasTouched || accepted.length > 0) return "touched";
  return hasMore ? "others" : "none";
}

/**
 * Those of which least is to be looked for come first, so that a wallet with thousands of forgotten payments holds up none with a few. When the step
 * has looked for as many as it may, the others are left for the next one, without those of which everything was found.
 */
async function acceptAll(
  context: DriverContext,
  chain: FollowedChain,
  accepted: readonly SeenWallet[],
  onLeftOut: OnLeftOut,
): Promise<void> {
  const searches = { left: searchesMax };
  const leftOf = ({ walletId }: SeenWallet) => chain.evidence.get(walletId)?.left ?? 0;
  // Of one that was never looked at, the signer lists all that it has signed.
  const isFound = ({ walletId }: SeenWallet) => chain.evidence.get(walletId)?.left === 0;
  const unfinished: SeenWallet[] = [];
  for (const wallet of accepted.toSorted((a, b) => leftOf(a) - leftOf(b))) {
    const accept = async () => {
      const isDecided =
        (searches.left > 0 || isFound(wallet)) && (await acceptChain(context, chain, wallet, searches));
      if (!isDecided) unfinished.push(wallet);
    };
    await isolateWallets(context, chain, [wallet], (one) => one, accept, comparisonFailed).catch(
      (error: unknown) => {
        // The statement of the operator stays, and is tried again when the wallet is compared next. The others do not wait for it.
        if (!(error instanceof NodeUnavailableError)) throw error;
        onLeftOut(error);
      },
    );
    await chain.keepLease();
  }
  if (unfinished.length > 0)
    await inUnit(context, positionOf(chain), async (unit) => {
      unit.lockWallets(unfinished);
      unit.touchWallets(unfinished);
    });
}

/** Returns the last of the page if there can be more behind it, and the wallets whose books are to follow the chain. */
async function compareSome(
  context: DriverContext,
  chain: FollowedChain,
  page: ComparedPage,
  { turn, onLeftOut }: { turn: ComparedTurn; onLeftOut: OnLeftOut },
): Promise<{ lastWalletId: string | undefined; accepted: SeenWallet[] }> {
  const { network, store } = context;
  const wallets = await store.listToCompare(network.network, page);
  if (wallets.length === 0) return { lastWalletId: undefined, accepted: [] };
  for (const { walletId } of wallets) turn.unread.delete(walletId);
  const read = await readChainApart(context, chain, wallets, ({ walletId }, failure) => {
    turn.unread.add(walletId);
    onLeftOut(failure);
  });
  const seen = wallets.flatMap((wallet, index): SeenWallet[] => {
    const onChain = read[index];
    return onChain === undefined ? [] : [{ ...wallet, onChain }];
  });
  const unsure = new Set<string>();
  const compareThese = async (some: readonly SeenWallet[]) => {
    const first = await compareSeen(context, chain, some);
    if (first.ahead.length === 0) return first;
    const left = await leaveOmitted(context, chain, first.ahead, ({ walletId }, failure) => {
      unsure.add(walletId);
      turn.unread.add(walletId);
      onLeftOut(failure);
    });
    const others = some.filter(({ walletId }) => !left.has(walletId));
    return await compareSeen(context, chain, others, true);
  };
  const compared = await isolateWallets(context, chain, seen, (one) => one, compareThese, comparisonFailed);
  await passOver(
    context,
    chain,
    wallets,
    compared.flatMap((one) => one.wallets),
    unsure,
  );
  // A wallet that was resumed instead is not adopted any more.
  for (const walletId of compared.flatMap(({ resumed }) => resumed)) chain.evidence.delete(walletId);
  const accepted = new Set(compared.flatMap((one) => one.accepted).map(({ walletId }) => walletId));
  return {
    lastWalletId: wallets.length < page.limit ? undefined : wallets.at(-1)?.walletId,
    accepted: seen.filter(({ walletId }) => accepted.has(walletId)),
  };
}

type SeenWallet = ComparedWallet & { onChain: WalletOnChain };

interface ComparedSome extends Pick<ReturnType<typeof compareAll>, "accepted"> {
  wallets: readonly SeenWallet[];
  /** Those that were not halted, by their ids. */
  resumed: readonly string[];
  /** Wallets that are not halted, and whose nonces the chain has used. Nothing is written then, of none of them. */
  ahead: readonly AheadWallet[];
}

const comparisonFailed = {
  code: "PAYMENT_AT_FAULT",
  reason: "Its books cannot be compared with the chain",
} as const;

/** The ids of those that are not compared now: blocks have left out what explains their nonces, or nodes do not say whether that is so. */
async function leaveOmitted(
  context: DriverContext,
  chain: FollowedChain,
  ahead: readonly AheadWallet[],
  onUnread: (wallet: ComparedWallet, failure: NodeUnavailableError) => void,
): Promise<ReadonlySet<string>> {
  try {
    return await includeOmitted(context, chain, ahead);
  } catch (failure) {
    if (!(failure instanceof NodeUnavailableError)) throw failure;
    for (const { wallet } of ahead) onUnread(wallet, failure);
    return new Set(ahead.map(({ wallet }) => wallet.walletId));
  }
}

async function compareSeen(
  context: DriverContext,
  chain: FollowedChain,
  wallets: readonly SeenWallet[],
  isLookedFor = false,
): Promise<ComparedSome> {
  const settled = settledOf(chain);
  return await inUnit(context, positionOf(chain), async (unit, record) => {
    // What the operator writes after the books were read has the wallet compared again.
    unit.lockWallets(wallets);
    const unsettled = await unit.listUnsettled(settled.number, wallets);
    const books = (await unit.readBooks(wallets)).filter(({ walletId }) => !unsettled.has(walletId));
    const onChain = wallets.map((wallet) => wallet.onChain);
    const compared = compareAll(context, wallets, books, onChain);
    const ahead = isLookedFor ? [] : aheadOf(wallets, books);
    if (ahead.length > 0) return { ...compared, accepted: [], wallets: [], resumed: [], ahead };
    const awaited = await unit.listAwaiting(compared.surplus, settled.number);
    const { credited, observed } = await creditGathered(
      context,
      unit,
      surplusBeyond(compared.surplus, awaited),
      ({ walletId, asset }) => ({
        receipt: { hash: null, block: { number: settled.number, hash: settled.hash } },
        ordinal: 0,
        identity: `balance ${walletId} ${asset} ${settled.number}`,
      }),
    );
    if (observed.length > 0) await record({ deposits: observed });
    unit.setGathered(credited.map((one) => ({ ...one, amount: 0n })));
    unit.writeHoldings(wallets, compared.holdings, settled.number);
    // Together with the number of the block: a wallet that is compared at it and not halted would go on paying until it is compared again.
    for (const difference of compared.differences) await haltInUnit(context, unit, difference);
    const resumed = books.filter(({ isHalted }) => !isHalted).map(({ walletId }) => walletId);
    return { ...compared, wallets, resumed, ahead };
  });
}

function aheadOf(wallets: readonly SeenWallet[], books: readonly WalletBooks[]): AheadWallet[] {
  return wallets.flatMap((wallet) => {
    const book = books.find(({ walletId }) => walletId === wallet.walletId);
    const { onChain } = wallet;
    const isAhead = book !== undefined && !book.isHalted && isUsedElsewhere(book, onChain);
    return isAhead ? [{ wallet, book, onChain }] : [];
  });
}

/**
 * A surplus may be payments between two wallets of a tenant that no block has shown yet. What is open is credited when it ends, so only what a
 * wallet has received beyond that is credited now.
 */
function surplusBeyond(
  surplus: readonly GatheredAmount[],
  awaited: readonly GatheredAmount[],
): GatheredAmount[] {
  return surplus.flatMap((received) => {
    const open = awaited.find((one) => one.walletId === received.walletId && one.asset === received.asset);
    const amount = received.amount - (open?.amount ?? 0n);
    return amount > 0n ? [{ ...received, amount }] : [];
  });
}

/**
 * What could not be compared comes in turn like the others, or it would be listed before them each time. `unsure`: wallets of which nodes do not say
 * whether another one has used their nonces. They may have to be halted and go on paying, so they are compared at the next settled block.
 */
async function passOver(
  context: DriverContext,
  chain: FollowedChain,
  wallets: readonly ListedWallet[],
  compared: readonly ComparedWallet[],
  unsure: ReadonlySet<string>,
): Promise<void> {
  const comparedIds = new Set(compared.map(({ walletId }) => walletId));
  const failed = wallets.filter(({ walletId }) => !comparedIds.has(walletId));
  if (failed.length === 0) return;
  const touched = failed.filter(({ walletId }) => unsure.has(walletId));
  const passed = failed.filter(({ walletId }) => !unsure.has(walletId));
  const { number } = settledOf(chain);
  await inUnit(context, positionOf(chain), async (unit) => {
    unit.lockWallets(failed);
    unit.touchWallets(touched);
    // What the operator has stated since they were listed is answered at the next settled block.
    if (passed.length > 0) unit.passOver(passed, number);
  });
}
