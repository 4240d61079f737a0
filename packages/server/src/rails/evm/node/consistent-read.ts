import { NodeUnavailableError } from "../../../app/chain/chain-node.js";
import type { RpcPool } from "../rpc/rpc-pool.js";

/** Answers that are right one by one, and cannot be about the same block. */
export class InconsistentError extends NodeUnavailableError {
  /** What a block has and no receipt, or a log and no block. */
  readonly transaction: string;
  readonly source: "block" | "log";

  constructor(message: string, transaction: string, source: "block" | "log") {
    super(message);
    this.transaction = transaction;
    this.source = source;
  }
}

/** The nodes that may be asked; undefined if all may. */
export type Only = ReadonlySet<string> | undefined;

/**
 * Reads what is in blocks from any nodes. What one of them gives can contradict what another one gives, and nothing in it says which of them is
 * wrong. Then each node is asked alone for all of it, and the first one that does not contradict itself is believed, as far as one node is. One
 * that does, before it, would be asked again and again: it is odd, unless it only lacks receipts that others have.
 */
export async function readConsistently<T>(
  pool: RpcPool,
  read: (only?: Only) => Promise<{ value: T; transactions: ReadonlySet<string> }>,
): Promise<T> {
  try {
    return (await read()).value;
  } catch (error) {
    if (!(error instanceof InconsistentError) || pool.endpoints.length < 2) throw error;
    return await readFromOne(pool, read, error);
  }
}

async function readFromOne<T>(
  pool: RpcPool,
  read: (only?: Only) => Promise<{ value: T; transactions: ReadonlySet<string> }>,
  first: InconsistentError,
): Promise<T> {
  const inconsistent = new Map<string, InconsistentError>();
  const reasons: string[] = [];
  for (const { name, pauseMs } of pool.inOrder()) {
    if (pauseMs() > 0) continue;
    try {
      const { value, transactions } = await read(new Set([name]));
      for (const [other, { message, transaction, source }] of inconsistent)
        if (source === "log" || !transactions.has(transaction)) pool.seeOdd([other], message);
      return value;
    } catch (error) {
      if (!(error instanceof NodeUnavailableError)) throw error;
      if (error instanceof InconsistentError) inconsistent.set(name, error);
      reasons.push(`${name}: ${error.message}`);
    }
  }
  throw new NodeUnavailableError(
    `No node gives all of a block without a contradiction: ${reasons.join(" ") || first.message}`,
  );
}
