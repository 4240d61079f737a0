import { NodeUnavailableError } from "../../../../app/chain/chain-node.js";
import { isAnswerTooLarge } from "../../rpc/rpc-error.js";
import type { RpcPool } from "../../rpc/rpc-pool.js";
import { blockHashesQuestion, type NodeTransaction, transactionQuestion } from "../read-block.js";
import { type NodeReceipt, type ReceiptReader, receiptQuestion } from "../receipts.js";
import { type Claim, isShown } from "./claims.js";
import { type Heard, hearOfLarge, type Said } from "./large-receipts.js";
import { MisreadError } from "./misread-error.js";
import { groupOpinions, requiredOpinions, weighOpinions } from "./weigh-opinions.js";

/** Nodes say different things about a final block, and nothing says which of them is wrong. */
export class ContradictionError extends Error {
  /** Whether all nodes were heard; if not, another one may say it. */
  readonly isComplete: boolean;
  readonly blockHash: string;

  constructor(message: string, isComplete: boolean, blockHash: string) {
    super(message);
    this.isComplete = isComplete;
    this.blockHash = blockHash;
  }
}

/**
 * Throws `MisreadError` if the larger group denies a claim, `ContradictionError` if no larger group decides, and `NodeUnavailableError` if too few
 * nodes can say it. A node that does not have the transaction counts as one that answers: otherwise two of five could have an invented one
 * confirmed, and one of three could have it waited for without an end. It can be a node that lags or has removed what is old. So those are asked
 * which transactions the block has, and what is not among them is denied.
 */
export async function confirmClaims(
  pool: RpcPool,
  claims: readonly Claim[],
  giveUp: ReceiptReader["giveUp"],
): Promise<void> {
  const heardOf = await askAbout(pool, claims);
  await hearOfLarge(pool, heardOf, giveUp);
  const said = heardOf.map((one) => one.said);
  const isOpen = (_: Claim, index: number) => {
    const heard = said[index] ?? [];
    return heard.some(({ value }) => value === undefined) && weigh(pool, heard).kind !== "agreed";
  };
  const open = claims.filter(isOpen);
  const lacking = open.length === 0 ? undefined : await findLacking(pool, open);
  for (const [index, claim] of claims.entries()) {
    const heard = (said[index] ?? []).map(({ name, value }) => ({
      name,
      value: value ?? (lacking?.get(name)?.has(claim) === true ? false : undefined),
    }));
    judgeClaim(pool, claim, heard);
  }
}

async function askAbout(pool: RpcPool, claims: readonly Claim[]): Promise<readonly Heard[]> {
  const withCoins = claims.filter(({ coin }) => coin !== undefined);
  const answered = await pool.askEach([
    ...claims.map(({ hash, blockHash, tokens }) => receiptQuestion(hash, blockHash, tokens)),
    ...withCoins.map(({ hash, blockHash }) => transactionQuestion(hash, blockHash)),
  ]);
  const heard = claims.map((claim): Heard => ({ claim, said: [], refusals: 0 }));
  for (const { name, answers } of answered) {
    if ("unavailable" in answers) continue;
    const transactionOf = new Map(
      withCoins.map((claim, index) => [claim, answers[claims.length + index]] as const),
    );
    for (const [index, one] of heard.entries()) {
      const { claim, said } = one;
      const answer = answers[index];
      if (answer !== undefined && "error" in answer && isAnswerTooLarge(answer.error)) one.refusals += 1;
      const parts = [answers[index], ...(claim.coin === undefined ? [] : [transactionOf.get(claim)])];
      const values = parts.map((part) => (part !== undefined && "value" in part ? part.value : null));
      if (values.includes(null)) continue;
      const [receipt, transaction] = values as [NodeReceipt | undefined, NodeTransaction | undefined];
      const isKnown = receipt !== undefined && (claim.coin === undefined || transaction !== undefined);
      said.push({ name, value: isKnown ? isShown(claim, receipt, transaction) : undefined });
    }
  }
  return heard;
}

/** By the names of nodes, the claims about transactions that are not in their blocks, as far as a node has the block. */
async function findLacking(
  pool: RpcPool,
  claims: readonly Claim[],
): Promise<ReadonlyMap<string, ReadonlySet<Claim>>> {
  const blockHashes = [...new Set(claims.map(({ blockHash }) => blockHash))];
  const answered = await pool.askEach(blockHashes.map(blockHashesQuestion));
  return new Map(
    answered.map(({ name, answers }) => {
      const isLacking = ({ hash, blockHash }: Claim) => {
        const answer = "unavailable" in answers ? undefined : answers[blockHashes.indexOf(blockHash)];
        return answer !== undefined && "value" in answer && answer.value?.has(hash) === false;
      };
      return [name, new Set(claims.filter(isLacking))];
    }),
  );
}

function weigh(pool: RpcPool, said: readonly Said[]) {
  const known = said.flatMap(({ name, value }) => (value === undefined ? [] : [{ name, value }]));
  return weighOpinions(
    groupOpinions(known, (value) => value),
    pool.endpoints.length,
    said.length,
  );
}

/** The claim is what one node has given, so a single other one that says otherwise contradicts it. */
function judgeClaim(pool: RpcPool, { hash, blockHash }: Claim, said: readonly Said[]): void {
  const nodeCount = pool.endpoints.length;
  const what = `transaction ${hash} in the final block ${blockHash}`;
  const verdict = weigh(pool, said);
  if (verdict.kind === "agreed") {
    if (verdict.others.length > 0) pool.seeOdd(verdict.others, `The others agree about ${what}.`);
    if (verdict.value) return;
    throw new MisreadError(`A node has given something else about ${what} than the others.`, blockHash);
  }
  const namesOf = (wanted: boolean) => said.filter(({ value }) => value === wanted).map(({ name }) => name);
  const [denying] = namesOf(false);
  if (denying !== undefined)
    throw new ContradictionError(
      `${denying} and ${namesOf(true)[0] ?? "another node"} disagree about ${what}.`,
      nodeCount <= 2 || said.filter(({ value }) => value !== undefined).length === nodeCount,
      blockHash,
    );
  const required = requiredOpinions(said.length, nodeCount);
  const confirming = namesOf(true);
  throw new NodeUnavailableError(
    `${required === 2 ? "Two" : required} nodes must confirm ${what}, and ${confirming.length === 0 ? "none" : `only ${confirming.join(" and ")}`} can.`,
  );
}
