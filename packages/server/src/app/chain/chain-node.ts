import type { NonceUse } from "./nonce-use.js";

/** What the service knows of a chain: blocks and balances that nodes report, and bytes that they are given. */

export interface BlockRef {
  number: number;
  /** Lower-case, like every hash and address here. */
  hash: string;
}

export interface BlockHeader extends BlockRef {
  parentHash: string;
  timeMs: number;
  baseFee: bigint;
}

export interface ChainToken {
  /** The code of the asset. */
  asset: string;
  /** Null for the coin of the chain. */
  contract: string | null;
}

/** A movement that a transaction shows. Its identity is the hash and the ordinal, which stay the same if it is included again elsewhere. */
export interface ObservedTransfer {
  hash: string;
  /** 0 is the coin of the transaction itself; n is the n-th transfer log of a configured token within the transaction. */
  ordinal: number;
  asset: string;
  from: string | null;
  to: string;
  amount: bigint;
}

/** What became of an attempt of ours that is in a block. */
export interface ObservedOutcome {
  hash: string;
  success: boolean;
  /** In wei: gas, and what some networks charge for the data and for their operator. */
  fee: bigint;
  /** All that the transaction shows of the coin and the configured tokens, from and to any address. */
  transfers: readonly ObservedTransfer[];
  /** Why nothing else of it is known: a contract has made its receipt too large for every node. */
  unreadable?: string;
}

export interface ChainBlock extends BlockHeader {
  /** Of successful transactions, to addresses that are ours, those of our own attempts included. */
  transfers: readonly ObservedTransfer[];
  outcomes: readonly ObservedOutcome[];
}

/** What to look for in blocks. */
export interface Watch {
  tokens: readonly ChainToken[];
  /** Which of these addresses are ours. */
  findOwned: (addresses: readonly string[]) => Promise<ReadonlySet<string>>;
  /** Which of these hashes are attempts of ours. */
  findAttempts: (hashes: readonly string[]) => Promise<ReadonlySet<string>>;
}

export interface PaymentDraft {
  from: string;
  /** The contract of a token; null for the coin. */
  contract: string | null;
  destination: string;
  amount: bigint;
}

/** `dataFee` is a bound on what is charged beside the gas; 0 on networks that charge nothing else. */
export type Estimate =
  | { gasLimit: bigint; dataFee: bigint }
  | { refused: "WOULD_REVERT" }
  | { refused: "UNAVAILABLE" };

export interface FeeTerms {
  maxFeePerGas: bigint;
  maxPriorityFeePerGas: bigint;
}

/** Nothing decides on more than this about what a node answered to bytes. */
export type SendOutcome = "taken" | "refused" | "unknown";

/** What is shown of the newest block. */
export interface ShownHead {
  number: number;
  /** In wei. */
  baseFee: bigint;
}

export interface Heads {
  /** The newest block of any node: what is followed next, if it turns out to be there. */
  latest: BlockHeader;
  final: BlockHeader;
  /** As two nodes support it, if several answer; the newest block if it is undefined. */
  shown?: ShownHead;
  /**
   * The newest block that two nodes have, or one if no other answers. The pace of payments follows it: a single node can make up any later ones,
   * and payments would be replaced with higher fees in no time.
   */
  sharedNumber?: number;
  /** If it is another number than before, what was read of blocks that are not settled may be wrong, and is to be read again. */
  misreads?: number;
  /** Why the final block is not a later one, as far as it is known. Nodes reach it at different moments, so it is no fault if it does not last. */
  waits?: string | undefined;
}

/** The nodes of one network, as one. Every method throws `NodeUnavailableError` if no node gives a usable answer. */
export interface ChainNode {
  network: string;
  /** Whether only one node is configured: then nothing that it says is confirmed by a second one. */
  isAlone: boolean;
  /**
   * The newest block, and the newest one that is final for more than half of the nodes that answer. If two are configured, two must agree about it
   * and about what was read from the blocks up to it; until then it stays where it was, or goes as far as they have agreed in the time of one call.
   * The newest block can be older than before, because another node has answered. Returns a reason to halt if a node is on another chain, or nodes
   * contradict each other about what is final, and no larger group decides. Estimates are made at no block before the settled one.
   */
  heads: (settledNumber?: number) => Promise<Heads | { halt: string }>;
  /** What was final may be so no longer: the network was halted and goes on, perhaps on another chain. */
  forgetFinal: () => void;
  /** A block with what concerns us; undefined if no node has it, or none with this number if one is given. */
  block: (hash: string, watch: Watch, number?: number) => Promise<ChainBlock | undefined>;
  /**
   * What is written of blocks that were read with `block`, before it is written. Two nodes must confirm it before `heads` calls these blocks
   * final. What was read of the same block at another time does not count, nor what was read and is not written.
   */
  confirmLater: (blocks: readonly ChainBlock[], tokens: readonly ChainToken[]) => void;
  /** Whether what was given to `confirmLater` of this block was not confirmed yet. */
  isToConfirm: (hash: string) => boolean;
  header: (number: number) => Promise<BlockHeader | undefined>;
  /** What one node says of blocks that may not be final, without those that it does not have. */
  headers: (numbers: readonly number[]) => Promise<readonly BlockHeader[]>;
  /** The headers of blocks that are final, in the order given. If two nodes are configured, two must name each of them. */
  finalHeaders: (numbers: readonly number[]) => Promise<readonly BlockHeader[]>;
  /** What nodes say of a block that may not be final, what most of them say first. Some can be made up. */
  headersAt: (number: number) => Promise<readonly BlockHeader[]>;
  /** Those of these blocks that more than half of the nodes which have them, or any of two, say to follow another one than given. */
  misnamedParents: (
    blocks: readonly Pick<BlockHeader, "hash" | "parentHash">[],
  ) => Promise<readonly string[]>;
  /**
   * The blocks from this number on, linked, at most 32 of them and none after `to`. For blocks that are final: two nodes must name them, and what
   * is in them.
   */
  finalBlocks: (from: number, to: number, watch: Watch) => Promise<readonly ChainBlock[]>;
  /** In the order given, after a block that is final. */
  balances: (
    accounts: readonly { address: string; contract: string | null }[],
    at: BlockRef,
  ) => Promise<readonly bigint[]>;
  /** How many transactions of these addresses there were up to a block that is final. Not for giving out nonces. */
  noncesAt: (addresses: readonly string[], at: BlockRef) => Promise<readonly number[]>;
  /**
   * Which transaction has used a nonce up to a block that is final. Undefined if the nodes show none: an authorisation (EIP-7702) uses a nonce
   * without a transaction. It needs the state of past blocks. If two are configured, two must say the same. It takes many questions, and
   * `beforeQuestion` is called before each: an error of it ends the search.
   */
  findNonceUse: (
    sender: { address: string; nonce: number },
    at: BlockRef,
    tokens: readonly ChainToken[],
    beforeQuestion: () => Promise<void>,
  ) => Promise<NonceUse | undefined>;
  /**
   * Which of these transactions of ours are in blocks up to one that is final, for more than half of the nodes that answer, and at least two if there are
   * several. For those that no block has shown: a node has left them out. `beforeQuestion` is called as in `findNonceUse`.
   */
  findIncluded: (
    hashes: readonly string[],
    at: BlockRef,
    tokens: readonly ChainToken[],
    beforeQuestion: () => Promise<void>,
  ) => Promise<readonly Omit<NonceUse, "signed">[]>;
  /** In the order given. `brief`: nodes have less time, because some drafts of several may take long and delay the others. */
  estimate: (drafts: readonly PaymentDraft[], patience?: "brief") => Promise<readonly Estimate[]>;
  /** Fees with which a transaction is included soon, within the cap of the network. */
  market: () => Promise<FeeTerms>;
  /** In the order given; it does not throw. */
  send: (bytes: readonly string[]) => Promise<readonly SendOutcome[]>;
}

/** No node gave a usable answer. Nothing was decided, and the caller tries again. The message contains no part of a URL. */
export class NodeUnavailableError extends Error {}

/** Nodes have answered, and contradict each other. It is retried like any other answer that cannot be used, and somebody should look at them. */
export class NodesDisagreeError extends NodeUnavailableError {}
