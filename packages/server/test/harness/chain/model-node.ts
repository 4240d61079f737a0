import type {
  BlockHeader,
  ChainBlock,
  ChainNode,
  ObservedOutcome,
  ObservedTransfer,
  Watch,
} from "../../../src/app/chain/chain-node.js";
import type { NonceUse } from "../../../src/app/chain/nonce-use.js";
import type { SigningIntent } from "../../../src/app/chain/signer.js";
import {
  balanceOf,
  type ExecutedTransaction,
  type ModelBlock,
  type ModelChain,
  modelCoin,
  modelDataFee,
  modelTokens,
  writeBytes,
} from "./model-chain.js";
import { modelNetwork } from "./model-network.js";

export interface ModelNodeOptions {
  chain: ModelChain;
  /** Called before each answer: it may take time, or throw. */
  reach: (what: string) => Promise<void>;
  /** Whether the answer to a transaction is lost, after it was taken. */
  isAnswerLost: () => boolean;
  /** How many blocks the head of the answering node is behind. */
  lag: () => number;
  wouldRevert: (destination: string) => boolean;
}

/** A node of the model chain. */
export function createModelNode({ chain, reach, ...options }: ModelNodeOptions): ChainNode {
  const at = (hash: string) => chain.blocks().find((block) => block.hash === hash);
  return {
    network: modelNetwork,
    isAlone: true,
    heads: async () => {
      await reach("heads");
      const blocks = chain.blocks();
      const final = chain.final();
      const latest = blocks[Math.max(final.number, blocks.length - 1 - options.lag())] as ModelBlock;
      return { latest: headerOf(latest), final: headerOf(final) };
    },
    header: async (number) => {
      await reach("header");
      const block = chain.blocks()[number];
      return block === undefined ? undefined : headerOf(block);
    },
    finalHeaders: async (numbers) => {
      await reach("final headers");
      return numbers.map((number) => headerOf(chain.blocks()[number] as ModelBlock));
    },
    headers: async (numbers) => {
      await reach("header");
      return numbers.flatMap((number) => chain.blocks()[number] ?? []).map(headerOf);
    },
    headersAt: async (number) => {
      await reach("header");
      const block = chain.blocks()[number];
      return block === undefined ? [] : [headerOf(block)];
    },
    misnamedParents: async (blocks) =>
      blocks
        .filter(({ hash, parentHash }) => (at(hash)?.parentHash ?? parentHash) !== parentHash)
        .map(({ hash }) => hash),
    block: async (hash, watch) => {
      await reach("block");
      const block = at(hash);
      return block === undefined ? undefined : await observe(block, watch);
    },
    confirmLater: () => undefined,
    isToConfirm: () => false,
    forgetFinal: () => undefined,
    finalBlocks: async (from, to, watch) => {
      await reach("final blocks");
      const blocks = chain.blocks().slice(from, Math.min(to, chain.final().number) + 1);
      const observed: ChainBlock[] = [];
      for (const block of blocks) observed.push(await observe(block, watch));
      return observed;
    },
    balances: async (accounts, { hash }) => {
      await reach("balances");
      const block = at(hash);
      if (block === undefined) throw new Error("a settled block is gone");
      return accounts.map(({ address, contract }) => balanceOf(block.balances, address, assetOf(contract)));
    },
    noncesAt: async (addresses, { hash }) => {
      await reach("nonces");
      const block = at(hash);
      if (block === undefined) throw new Error("a settled block is gone");
      return addresses.map((address) => block.nonces.get(address) ?? 0);
    },
    findNonceUse: async (sender, { number }, _tokens, beforeQuestion) => {
      await beforeQuestion();
      await reach("the use of a nonce");
      return findUse(chain, sender, number);
    },
    findIncluded: async (hashes, { number }, _tokens, beforeQuestion) => {
      await beforeQuestion();
      await reach("what is included");
      return chain
        .blocks()
        .slice(0, number + 1)
        .flatMap(({ hash, number, transactions }) =>
          transactions
            .filter((one) => hashes.includes(one.hash))
            .map((one) => ({ block: { number, hash }, outcome: outcomeOf(one) })),
        );
    },
    estimate: async (drafts) => {
      await reach("estimate");
      return drafts.map(({ contract, destination }) =>
        options.wouldRevert(destination)
          ? { refused: "WOULD_REVERT" }
          : { gasLimit: contract === null ? 21_000n : 60_000n, dataFee: modelDataFee },
      );
    },
    market: async () => {
      await reach("market");
      return { maxFeePerGas: 2n * chain.head().baseFee + 10n, maxPriorityFeePerGas: 10n };
    },
    send: async (bytes) => {
      await reach("send");
      return bytes.map((one) => {
        const answer = chain.send(one);
        return options.isAnswerLost() ? "unknown" : answer;
      });
    },
  };
}

function findUse(
  chain: ModelChain,
  { address, nonce }: { address: string; nonce: number },
  upTo: number,
): NonceUse | undefined {
  const block = chain.blocks().find(({ nonces }) => (nonces.get(address) ?? 0) > nonce);
  if (block === undefined || block.number > upTo) return undefined;
  const isIt = ({ intent, strangerOf }: ExecutedTransaction) =>
    strangerOf === address || (intent?.address === address && intent.nonce === nonce);
  const used = block.transactions.find(isIt);
  if (used === undefined) return undefined;
  const { intent } = used;
  return {
    block: { number: block.number, hash: block.hash },
    outcome: outcomeOf(used),
    signed: intent === undefined ? null : { bytes: writeBytes(intent), terms: termsOf(intent) },
  };
}

function termsOf({ gasLimit, maxFeePerGas, maxPriorityFeePerGas }: SigningIntent) {
  return { gasLimit, maxFeePerGas, maxPriorityFeePerGas };
}

function headerOf({ number, hash, parentHash, baseFee }: ModelBlock): BlockHeader {
  return { number, hash, parentHash, baseFee, timeMs: number * 1000 };
}

function assetOf(contract: string | null): string {
  if (contract === null) return modelCoin;
  return modelTokens.find((token) => token.contract === contract)?.asset ?? "";
}

async function observe(block: ModelBlock, watch: Watch): Promise<ChainBlock> {
  const all = block.transactions.flatMap(transfersOf);
  const owned = await watch.findOwned([...new Set(all.map(({ to }) => to))]);
  const attempts = await watch.findAttempts(block.transactions.map(({ hash }) => hash));
  return {
    ...headerOf(block),
    transfers: all.filter(({ to }) => owned.has(to)),
    outcomes: block.transactions.filter(({ hash }) => attempts.has(hash)).map(outcomeOf),
  };
}

function outcomeOf(transaction: ExecutedTransaction): ObservedOutcome {
  const { hash, success, fee } = transaction;
  return { hash, success, fee, transfers: transfersOf(transaction) };
}

/** The coin is the transfer 0, and the logs of tokens count from 1, within the transaction. */
function transfersOf({ hash, success, transfers }: ExecutedTransaction): ObservedTransfer[] {
  if (!success) return [];
  let ordinal = 0;
  return transfers.map(({ asset, from, to, amount }) => {
    if (asset !== modelCoin) ordinal += 1;
    return { hash, ordinal: asset === modelCoin ? 0 : ordinal, asset, from, to, amount };
  });
}
