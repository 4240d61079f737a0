import { coinTransferOf } from "../own-transfers.js";
import type { NodeTransaction } from "../read-block.js";
import type { NodeReceipt } from "../receipts.js";
import { lineOf, type TokenIndex, transfersOf } from "../transfer-logs.js";
import type { KeptBlock } from "./kept-blocks.js";

/** What a block is said to show of one transaction, a line for each fact. */
export interface Claim {
  readonly hash: string;
  readonly blockHash: string;
  readonly lines: readonly string[];
  /** The asset of coins that arrived with it: what it pays is not part of its receipt. */
  readonly coin: string | undefined;
  /** Whether it is ours, so that its fee counts too. */
  readonly isOwn: boolean;
  readonly tokens: TokenIndex;
}

export function claimsOf({ block, tokens }: KeptBlock): Claim[] {
  const { hash: blockHash, transfers, outcomes } = block;
  const claims = new Map<string, Pick<Claim, "isOwn"> & { lines: string[]; coin: string | undefined }>();
  const own = new Set(outcomes.map(({ hash }) => hash));
  const claimOf = (hash: string) => {
    const claim = claims.get(hash) ?? { lines: ["success true"], coin: undefined, isOwn: own.has(hash) };
    claims.set(hash, claim);
    return claim;
  };
  for (const transfer of transfers) {
    const claim = claimOf(transfer.hash);
    claim.lines.push(lineOf(transfer));
    if (transfer.ordinal === 0) claim.coin = transfer.asset;
  }
  for (const { hash, success, fee, transfers: shown, unreadable } of outcomes) {
    if (unreadable !== undefined) continue;
    const logs = shown.filter(({ ordinal }) => ordinal > 0);
    const claim = claimOf(hash);
    claim.lines[0] = `success ${success}`;
    claim.lines.push(`fee ${fee}`, `logs ${logs.length}`, ...logs.map(lineOf));
  }
  return [...claims].map(([hash, claim]) => ({ hash, blockHash, tokens, ...claim }));
}

/** Whether what a node has of the transaction is what is claimed. */
export function isShown(
  { lines, coin, tokens }: Claim,
  { success, fee, logs }: NodeReceipt,
  transaction: NodeTransaction | undefined,
): boolean {
  const shown = transfersOf(logs, tokens);
  const coins = coin === undefined || transaction === undefined ? [] : coinTransferOf(transaction, coin);
  const all = [...shown, ...coins].map(lineOf);
  const facts = new Set([`success ${success}`, `fee ${fee}`, `logs ${shown.length}`, ...all]);
  return lines.every((line) => facts.has(line));
}
