import type { ChainNetwork } from "../../../../app/chain/chain-network.js";
import {
  type BlockRef,
  type ChainNode,
  NodesDisagreeError,
  NodeUnavailableError,
} from "../../../../app/chain/chain-node.js";
import { type ComparedWallet, nameWallet } from "../../../../app/chain/wallet-books.js";
import { type DriverContext, type FollowedChain, settledOf, tokensOf } from "../driver-context.js";
import type { WalletOnChain } from "./compare-books.js";

interface ReadDeps {
  readonly network: ChainNetwork;
  readonly node: Pick<ChainNode, "balances" | "noncesAt">;
}

/** Wallets as the chain has them after a block. */
export async function readChain(
  deps: ReadDeps,
  settled: BlockRef,
  wallets: readonly ComparedWallet[],
): Promise<WalletOnChain[]> {
  const tokens = tokensOf(deps.network);
  const accounts = wallets.flatMap(({ address }) => tokens.map(({ contract }) => ({ address, contract })));
  const balances = await deps.node.balances(accounts, settled);
  const nonces = await readNonces(deps, settled, wallets);
  if (balances.length !== accounts.length)
    throw new Error("a node has answered for other accounts than it was asked for");
  return wallets.map((_, index) => ({
    nonce: nonces[index] as number,
    balances: new Map(
      tokens.map(({ asset }, position) => [asset, balances[index * tokens.length + position] as bigint]),
    ),
  }));
}

async function readNonces(
  { node }: Pick<ReadDeps, "node">,
  settled: BlockRef,
  wallets: readonly ComparedWallet[],
): Promise<readonly number[]> {
  const nonces = await node.noncesAt(
    wallets.map(({ address }) => address),
    settled,
  );
  if (nonces.length !== wallets.length)
    throw new Error("a node has answered for other accounts than it was asked for");
  return nonces;
}

/** How many accounts are asked for at once, each in a request of its own. */
const parallelMax = 8;
/** So many can be one token that gives no balance at all. More are not the fault of accounts. */
const faultsMax = 32;

type OnUnread = (wallet: ComparedWallet, failure: NodeUnavailableError) => void;

/**
 * As `readChain`, but what nodes do not say about one account does not keep the others from being compared: a token may give no balance of one
 * address, or nodes disagree about it. Then each account is asked for alone. A balance that is not known is left out, and a wallet without a
 * nonce is undefined; both are reported with their names. Throws if the nodes give no state of this block at all.
 */
export async function readChainApart(
  context: Pick<DriverContext, "network" | "node">,
  chain: FollowedChain,
  wallets: readonly ComparedWallet[],
  onUnread: OnUnread,
): Promise<(WalletOnChain | undefined)[]> {
  const { network, node } = context;
  const settled = settledOf(chain);
  try {
    return await readChain(context, settled, wallets);
  } catch (error) {
    if (!(error instanceof NodeUnavailableError)) throw error;
  }
  await chain.keepLease();
  const nonceOf = async (wallet: ComparedWallet) => (await readNonces(context, settled, [wallet]))[0];
  const nonces = await readNonces(context, settled, wallets).catch(async (error: unknown) => {
    if (!(error instanceof NodesDisagreeError)) throw error;
    const named = wallets.map((wallet) => ({ wallet, name: "nonce", read: () => nonceOf(wallet) }));
    return await readEach(chain, named, onUnread);
  });
  const accounts = wallets.flatMap((wallet) =>
    tokensOf(network).map(({ asset, contract }) => ({
      ...{ wallet, name: `balance of ${asset}` },
      read: async () => {
        const [balance] = await node.balances([{ address: wallet.address, contract }], settled);
        return balance === undefined ? undefined : ([asset, balance] as const);
      },
    })),
  );
  const balances = await readEach(chain, accounts, onUnread);
  return wallets.map((wallet, index) => {
    const nonce = nonces[index];
    const own = balances.filter((one, at) => one !== undefined && accounts[at]?.wallet === wallet);
    return nonce === undefined ? undefined : { nonce, balances: new Map(own as [string, bigint][]) };
  });
}

interface Account<Value> {
  readonly wallet: ComparedWallet;
  readonly name: string;
  readonly read: () => Promise<Value>;
}

/**
 * In the order given, undefined for what no node gives alone. Throws if that are too many, or all of them: nodes that have lost the state of the
 * block give none. They have it if they disagree about it.
 */
async function readEach<Value>(
  chain: FollowedChain,
  accounts: readonly Account<Value>[],
  onUnread: OnUnread,
): Promise<(Value | undefined)[]> {
  const values: (Value | undefined)[] = [];
  const faults: { account: Account<Value>; failure: NodeUnavailableError }[] = [];
  const readOne = async (account: Account<Value>) => {
    try {
      return await account.read();
    } catch (failure) {
      if (!(failure instanceof NodeUnavailableError)) throw failure;
      faults.push({ account, failure });
      return undefined;
    }
  };
  for (let start = 0; start < accounts.length && faults.length <= faultsMax; start += parallelMax) {
    values.push(...(await Promise.all(accounts.slice(start, start + parallelMax).map(readOne))));
    await chain.keepLease();
  }
  const lost = faults.find(({ failure }) => !(failure instanceof NodesDisagreeError)) ?? faults[0];
  const isOfSome = values.some((value) => value !== undefined) || lost?.failure instanceof NodesDisagreeError;
  if (lost !== undefined && (faults.length > faultsMax || !isOfSome)) throw lost.failure;
  for (const { account, failure } of faults) {
    const name = `the ${account.name} of ${nameWallet(account.wallet)}`;
    onUnread(
      account.wallet,
      new NodeUnavailableError(`Cannot compare ${name} with the chain: ${failure.message}`),
    );
  }
  return values;
}
