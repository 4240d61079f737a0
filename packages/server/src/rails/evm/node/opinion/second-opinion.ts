import {
  type ChainBlock,
  NodesDisagreeError,
  NodeUnavailableError,
  type ObservedTransfer,
} from "../../../../app/chain/chain-node.js";
import type { RpcPool } from "../../rpc/rpc-pool.js";
import { coinTransferOf } from "../own-transfers.js";
import { type NodeTransaction, transactionQuestion } from "../read-block.js";
import { type NodeReceipt, receiptQuestion } from "../receipts.js";
import { type TokenIndex, transfersOf } from "../transfer-logs.js";
import { createKeptBlocks, type KeptBlock, type KeptBlocks } from "./kept-blocks.js";
import { groupOpinions, weighOpinions } from "./weigh-opinions.js";

/** What a block is said to show of one transaction, a line for each fact. */
interface Claim {
  readonly hash: string;
  readonly blockHash: string;
  readonly lines: readonly string[];
  /** The asset of coins that arrived with it: what it pays is not part of its receipt. */
  readonly coin: string | undefined;
  readonly tokens: TokenIndex;
}

/** Nodes say different things about a final block, and nothing says which of them is wrong. */
export class ContradictionError extends Error {
  /** Whether all nodes were heard; if not, another one may say it. */
  readonly isComplete: boolean;
  readonly blockHash: string | undefined;

  constructor(message: string, isComplete: boolean, blockHash?: string) {
    super(message);
    this.isComplete = isComplete;
    this.blockHash = blockHash;
  }
}

/** The larger group of nodes says something else about a final block than was read from it. */
class MisreadError extends Error {}

export interface SecondOpinion {
  /**
   * Throws `NodesDisagreeError` if the blocks must be read again, or nodes contradict each other, which the next heads report, and
   * `NodeUnavailableError` if two nodes cannot confirm them.
   */
  readonly confirmFinal: (blocks: readonly ChainBlock[], tokens: TokenIndex) => Promise<void>;
  /** The next heads are a reason to halt. */
  readonly dispute: (reason: string, isComplete: boolean) => void;
  /** Keeps what is written of a block that is not final yet, to confirm it when it is, in the place of what was kept of the same block. */
  readonly remember: KeptBlocks["keep"];
  /**
   * Confirms blocks that were kept, up to the final one. Also throws what final blocks have shown since. Undefined if none could be confirmed, or
   * if one was misread.
   */
  readonly confirmKept: KeptBlocks["confirm"];
  /** How often a block that was kept was misread, or too much was kept. All that was kept is forgotten then, and has to be read again. */
  readonly misreads: () => number;
}

/** How many transactions are confirmed with one request to each node. */
const claimsMax = 50;

/**
 * The hash of a final block is agreed by two nodes, but what is in the block comes from one of them, and cannot be checked against the hash
 * without the formats of every chain. So all nodes are asked about each transaction that moves money in the ledger, and two must say the
 * same. With one node there is no second opinion.
 */
export function createSecondOpinion(pool: RpcPool, monotonicMs: () => number): SecondOpinion {
  const isAlone = pool.endpoints.length < 2;

  /** What was found while final blocks were read; it is reported with the heads. */
  let contradiction: ContradictionError | undefined;
  let misreads = 0;
  const onForgotten = () => {
    misreads += 1;
  };
  const kept = createKeptBlocks({ pool, monotonicMs, confirmBlocks: confirm, onForgotten });

  /** At once: each node limits how many requests it gets at the same time. */
  async function confirm(blocks: readonly KeptBlock[]): Promise<void> {
    if (isAlone) return;
    const claims = blocks.flatMap(claimsOf);
    const parts: Claim[][] = [];
    for (let start = 0; start < claims.length; start += claimsMax)
      parts.push(claims.slice(start, start + claimsMax));
    await Promise.all(parts.map((part) => confirmClaims(pool, part)));
  }

  return {
    confirmFinal: async (blocks, tokens) => {
      try {
        await confirm(blocks.map((block) => ({ block, tokens })));
      } catch (error) {
        if (error instanceof ContradictionError) {
          contradiction = error;
          throw new NodesDisagreeError(error.message);
        }
        if (!(error instanceof MisreadError)) throw error;
        pool.changeFirst();
        throw new NodesDisagreeError(`${error.message} The block is read again.`);
      }
    },
    dispute: (reason, isComplete) => {
      contradiction = new ContradictionError(reason, isComplete);
    },
    remember: (block, tokens) => {
      if (isAlone) return;
      if (block.transfers.length + block.outcomes.length > 0) kept.keep(block, tokens);
      else kept.forget(block.hash);
    },
    confirmKept: async (final) => {
      const found = contradiction;
      contradiction = undefined;
      if (found !== undefined) throw found;
      try {
        return await kept.confirm(final);
      } catch (error) {
        // The network halts. When it is resumed the block is read again, so that the same lie does not halt it again.
        if (error instanceof ContradictionError && error.isComplete && error.blockHash !== undefined)
          kept.forget(error.blockHash);
        if (!(error instanceof MisreadError)) throw error;
        pool.changeFirst();
        kept.clear();
        return undefined;
      }
    },
    misreads: () => misreads,
  };
}

async function confirmClaims(pool: RpcPool, claims: readonly Claim[]): Promise<void> {
  const withCoins = claims.filter(({ coin }) => coin !== undefined);
  const answered = await pool.askEach([
    ...claims.map(({ hash, blockHash }) => receiptQuestion(hash, blockHash)),
    ...withCoins.map(({ hash, blockHash }) => transactionQuestion(hash, blockHash)),
  ]);
  const opinions = claims.map(() => [] as { name: string; value: boolean }[]);
  for (const { name, answers } of answered) {
    if ("unavailable" in answers) continue;
    const values = answers.map((answer) => ("value" in answer ? answer.value : undefined));
    const sent = values.slice(claims.length) as (NodeTransaction | undefined)[];
    const transactions = new Map(sent.map((transaction) => [transaction?.hash, transaction]));
    for (const [index, claim] of claims.entries()) {
      const receipt = values[index] as NodeReceipt | undefined;
      const transaction = transactions.get(claim.hash);
      if (receipt === undefined || (claim.coin !== undefined && transaction === undefined)) continue;
      const facts = factsOf(claim, receipt, transaction);
      opinions[index]?.push({ name, value: claim.lines.every((line) => facts.has(line)) });
    }
  }
  for (const [index, claim] of claims.entries()) judgeClaim(pool, claim, opinions[index] ?? []);
}

/** The claim is what one node has given, so a single other one that says otherwise contradicts it. */
function judgeClaim(
  pool: RpcPool,
  { hash, blockHash }: Claim,
  said: readonly { readonly name: string; readonly value: boolean }[],
): void {
  const nodeCount = pool.endpoints.length;
  const what = `transaction ${hash} in the final block ${blockHash}`;
  const verdict = weighOpinions(
    groupOpinions(said, (value) => value),
    nodeCount,
  );
  if (verdict.kind === "agreed") {
    if (verdict.others.length > 0) pool.seeOdd(verdict.others, `The others agree about ${what}.`);
    if (verdict.value) return;
    throw new MisreadError(`A node has given something else about ${what} than the others.`);
  }
  const denied = said.find(({ value }) => !value);
  if (denied !== undefined)
    throw new ContradictionError(
      `${denied.name} and another node disagree about ${what}.`,
      nodeCount <= 2 || said.length === nodeCount,
      blockHash,
    );
  throw new NodeUnavailableError(
    `Two nodes must confirm what is in the final block ${blockHash}, and ${said.length} can.`,
  );
}

function claimsOf({ block, tokens }: KeptBlock): Claim[] {
  const { hash: blockHash, transfers, outcomes } = block;
  const claims = new Map<string, { lines: string[]; coin: string | undefined }>();
  const claimOf = (hash: string) => {
    const claim = claims.get(hash) ?? { lines: ["success true"], coin: undefined };
    claims.set(hash, claim);
    return claim;
  };
  for (const transfer of transfers) {
    const claim = claimOf(transfer.hash);
    claim.lines.push(lineOf(transfer));
    if (transfer.ordinal === 0) claim.coin = transfer.asset;
  }
  for (const { hash, success, fee, transfers: shown } of outcomes) {
    const logs = shown.filter(({ ordinal }) => ordinal > 0);
    const claim = claimOf(hash);
    claim.lines[0] = `success ${success}`;
    claim.lines.push(`fee ${fee}`, `logs ${logs.length}`, ...logs.map(lineOf));
  }
  return [...claims].map(([hash, claim]) => ({ hash, blockHash, tokens, ...claim }));
}

function factsOf(
  { coin, tokens }: Claim,
  { success, fee, logs }: NodeReceipt,
  transaction: NodeTransaction | undefined,
): ReadonlySet<string> {
  const shown = transfersOf(logs, tokens);
  const coins = coin === undefined || transaction === undefined ? [] : coinTransferOf(transaction, coin);
  const all = [...shown, ...coins].map(lineOf);
  return new Set([`success ${success}`, `fee ${fee}`, `logs ${shown.length}`, ...all]);
}

function lineOf({ ordinal, asset, from, to, amount }: ObservedTransfer): string {
  return `${ordinal} ${asset} ${from} ${to} ${amount}`;
}
