import type { ChainBlock, ObservedOutcome, ObservedTransfer, Watch } from "../../../app/chain/chain-node.js";
import { InconsistentError, type Only } from "./consistent-read.js";
import type { NodeBlock, NodeTransaction } from "./read-block.js";
import type { NodeReceipt, ReadReceipts, UnreadableReceipt } from "./receipts.js";
import { lineOf, mayHaveRecipient, type NodeLog, type TokenIndex, transfersOf } from "./transfer-logs.js";

export interface BlockWithLogs {
  readonly block: NodeBlock;
  /** All transfer logs of the watched tokens in the block; there can be others. */
  readonly logs: readonly NodeLog[];
}

interface Candidates extends BlockWithLogs {
  readonly coins: readonly ObservedTransfer[];
  readonly tokens: readonly ObservedTransfer[];
}

/** How many addresses or hashes are looked up at once. */
const lookupMax = 10_000;

/**
 * What concerns us in some blocks: transfers to our addresses, and the outcomes of our attempts. Addresses and hashes are looked up for all
 * of the blocks together. Receipts are read only for our attempts, and for coins, because the block does not say whether a transaction
 * succeeded; a log exists only if it did. A log that the block's filter excludes may have been made up, so its receipt decides. Some networks
 * have empty filters, and a few leave out logs of their own.
 */
export async function selectOwn(
  blocks: readonly BlockWithLogs[],
  watch: Watch,
  tokens: TokenIndex,
  readReceipts: ReadReceipts,
  only?: Only,
): Promise<ChainBlock[]> {
  const coin = watch.tokens.find(({ contract }) => contract === null)?.asset;
  const candidates = blocks.map(({ block, logs }): Candidates => {
    const coins = coin === undefined ? [] : block.transactions.flatMap((item) => coinTransferOf(item, coin));
    return { block, logs, coins, tokens: transfersOf(logs, tokens) };
  });
  for (const candidate of candidates) assertInBlock(candidate);
  const recipients = candidates.flatMap((candidate) => [...candidate.coins, ...candidate.tokens]);
  const transactions = blocks.flatMap(({ block }) => block.transactions);
  const [owned, attempts] = await Promise.all([
    lookUp(
      recipients.map(({ to }) => to),
      watch.findOwned,
    ),
    lookUp(
      transactions.map(({ hash }) => hash),
      watch.findAttempts,
    ),
  ]);
  return await Promise.all(
    candidates.map(async (candidate) => {
      const { block } = candidate;
      const coins = candidate.coins.filter(({ to }) => owned.has(to));
      const own = block.transactions.filter(({ hash }) => attempts.has(hash));
      const arrived = candidate.tokens.filter(({ to, amount }) => amount > 0n && owned.has(to));
      const recipients = [...new Set(arrived.map(({ to }) => to))];
      const excluded = new Set(recipients.filter((to) => !mayHaveRecipient(block.logsBloom, to)));
      const doubtful = arrived.filter(({ to }) => excluded.has(to));
      const hashes = new Set([...own, ...coins, ...doubtful].map(({ hash }) => hash));
      const receipts = await readReceipts(block, [...hashes], tokens, only);
      assertInReceipts(doubtful, receipts, tokens);
      const receiptOf = (hash: string) => receipts.get(hash) ?? { hash, success: false };
      const hasSucceeded = (hash: string) => {
        const receipt = receiptOf(hash);
        return "success" in receipt && receipt.success;
      };
      const received = [
        ...coins.filter(({ hash }) => hasSucceeded(hash)),
        // What a payment of ours has moved is not known in parts.
        ...arrived.filter(({ hash }) => !attempts.has(hash) || !("unreadable" in receiptOf(hash))),
      ];
      const outcomes = own.map((item) =>
        outcomeOf(item, receipts.get(item.hash) as NodeReceipt | UnreadableReceipt, coin, tokens),
      );
      return { ...headerOf(block), transfers: received, outcomes };
    }),
  );
}

export function coinTransferOf(
  { hash, from, to, value }: NodeTransaction,
  asset: string,
): ObservedTransfer[] {
  return to === null || value === 0n ? [] : [{ hash, ordinal: 0, asset, from, to, amount: value }];
}

function assertInBlock({ block, tokens }: Candidates): void {
  const hashes = new Set(block.transactions.map(({ hash }) => hash));
  const foreign = tokens.find(({ hash }) => !hashes.has(hash));
  if (foreign !== undefined)
    throw new InconsistentError(
      `A log names transaction ${foreign.hash}, which block ${block.hash} lacks.`,
      foreign.hash,
      "log",
    );
}

function assertInReceipts(
  doubtful: readonly ObservedTransfer[],
  receipts: ReadonlyMap<string, NodeReceipt | UnreadableReceipt>,
  tokens: TokenIndex,
): void {
  const shown = new Map<string, ReadonlySet<string>>();
  for (const { hash } of doubtful) {
    const receipt = receipts.get(hash);
    if (shown.has(hash) || receipt === undefined || "unreadable" in receipt) continue;
    const transfers = receipt.success ? transfersOf(receipt.logs, tokens) : [];
    shown.set(hash, new Set(transfers.map(lineOf)));
  }
  const foreign = doubtful.find((one) => shown.get(one.hash)?.has(lineOf(one)) === false);
  if (foreign !== undefined)
    throw new InconsistentError(
      `A log names transaction ${foreign.hash}, whose receipt lacks it.`,
      foreign.hash,
      "log",
    );
}

async function lookUp(
  keys: readonly string[],
  find: (keys: readonly string[]) => Promise<ReadonlySet<string>>,
): Promise<ReadonlySet<string>> {
  const distinct = [...new Set(keys)];
  const found = new Set<string>();
  for (let start = 0; start < distinct.length; start += lookupMax)
    for (const key of await find(distinct.slice(start, start + lookupMax))) found.add(key);
  return found;
}

function outcomeOf(
  transaction: NodeTransaction,
  receipt: NodeReceipt | UnreadableReceipt,
  coin: string | undefined,
  tokens: TokenIndex,
): ObservedOutcome {
  if ("unreadable" in receipt) return { ...receipt, success: false, fee: 0n, transfers: [] };
  const { hash, success, fee, logs } = receipt;
  const coins = success && coin !== undefined ? coinTransferOf(transaction, coin) : [];
  return { hash, success, fee, transfers: [...coins, ...transfersOf(logs, tokens)] };
}

function headerOf({ number, hash, parentHash, timeMs, baseFee }: NodeBlock) {
  return { number, hash, parentHash, timeMs, baseFee };
}
