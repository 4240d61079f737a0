import { createHash } from "node:crypto";
import type { ChainState } from "../chain/chain-state.js";

/**
 * A node that is on another fork from some block on. It has the same transactions and balances, but other hashes of these blocks,
 * in every place where a hash appears, and knows the blocks by its own hashes only.
 */
function forkedHash(hash: string): string {
  return `0x${createHash("sha256").update(`forked ${hash}`).digest("hex")}`;
}

const hashes = /0x[0-9a-f]{64}/g;

export function toForked(state: ChainState, forkedFrom: number, result: unknown): unknown {
  return replaceHashes(result, (hash) => {
    const number = state.numberOf.get(hash);
    return number === undefined || number < forkedFrom ? hash : forkedHash(hash);
  });
}

/** Hashes that this node would give, as the EVM knows them; hashes of the other fork become unknown ones. */
export function fromForked(
  { blocks }: ChainState,
  forkedFrom: number,
  params: readonly unknown[],
): readonly unknown[] {
  const real = new Map(blocks.slice(forkedFrom).map(({ hash }) => [forkedHash(hash), hash]));
  const other = new Set(real.values());
  return replaceHashes(params, (hash) => real.get(hash) ?? (other.has(hash) ? forkedHash(hash) : hash));
}

/** A node that lags does not know the hashes of the blocks that it lacks. */
export function withoutHiddenHashes({ numberOf }: ChainState, latest: number, params: unknown[]): unknown[] {
  return replaceHashes(params, (hash) => ((numberOf.get(hash) ?? 0) > latest ? forkedHash(hash) : hash));
}

/** The text of the JSON is searched, because a hash can be anywhere in an answer. */
function replaceHashes<T>(value: T, replace: (hash: string) => string): T {
  return JSON.parse(JSON.stringify(value).replace(hashes, replace)) as T;
}
