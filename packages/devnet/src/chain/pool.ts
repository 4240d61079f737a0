import { RpcError, rpcCodes } from "../rpc-error.js";
import { type ChainState, pooledMax, refuseIfFull } from "./chain-state.js";

/** A transaction that waits for a block. */
export interface PooledTransaction {
  readonly hash: string;
  readonly from: string;
  readonly nonce: number;
}

/** Gives a signed transaction to the pool. The pool is not part of the journal: like a node's, it is empty after a restart. */
export async function sendTransaction(state: ChainState, raw: unknown): Promise<string> {
  refuseIfFull(state, 1);
  if (state.pooled.size >= pooledMax) await forgetUnpooled(state);
  if (state.pooled.size >= pooledMax) throw new RpcError(rpcCodes.serverError, "txpool is full");
  const hash = (await state.edr.request("eth_sendRawTransaction", [raw])) as string;
  if (state.pool === "sequencer") await refuseNonceGap(state, hash);
  state.pooled.set(hash, raw as string);
  return hash;
}

/** The EVM has accepted the transaction; nobody has seen it yet, because the chain's mutex is held. */
async function refuseNonceGap({ edr }: ChainState, hash: string): Promise<void> {
  const { from, nonce } = readPooled(await edr.request("eth_getTransactionByHash", [hash]));
  const next = Number(await edr.request("eth_getTransactionCount", [from, "pending"]));
  if (nonce < next) return;
  await edr.request("hardhat_dropTransaction", [hash]);
  throw new RpcError(rpcCodes.serverError, `nonce too high: address ${from}, tx: ${nonce} state: ${next}`);
}

export async function listPool({ edr }: ChainState): Promise<PooledTransaction[]> {
  return ((await edr.request("eth_pendingTransactions")) as unknown[]).map(readPooled);
}

function readPooled(transaction: unknown): PooledTransaction {
  const { hash, from, nonce } = transaction as { hash: string; from: string; nonce: string };
  return { hash, from, nonce: Number(nonce) };
}

/** Forgets the bytes of what has left the pool: included, replaced, or unpayable after a block. */
export async function forgetUnpooled(state: ChainState): Promise<PooledTransaction[]> {
  if (state.pooled.size === 0) return [];
  const pool = await listPool(state);
  const present = new Set(pool.map(({ hash }) => hash));
  for (const hash of state.pooled.keys()) if (!present.has(hash)) state.pooled.delete(hash);
  return pool;
}

/** Whether a block could include something: a transaction that waits for the one before it, which nobody has sent, does not count. */
export async function hasExecutable(state: ChainState): Promise<boolean> {
  const lowest = new Map<string, number>();
  for (const { from, nonce } of await forgetUnpooled(state))
    lowest.set(from, Math.min(nonce, lowest.get(from) ?? nonce));
  for (const [from, nonce] of lowest) {
    if (Number(await state.edr.request("eth_getTransactionCount", [from, "latest"])) === nonce) return true;
  }
  return false;
}

/** Removes transactions from the pool, as a node does that evicts them; all of them if none is named. */
export async function dropTransactions(state: ChainState, hashes?: readonly string[]): Promise<string[]> {
  const dropped: string[] = [];
  for (const { hash } of await listPool(state)) {
    if (hashes !== undefined && !hashes.includes(hash)) continue;
    await state.edr.request("hardhat_dropTransaction", [hash]);
    state.pooled.delete(hash);
    dropped.push(hash);
  }
  return dropped;
}

/** Takes everything out of the pool and returns its bytes, in the order of arrival. */
export async function emptyPool(state: ChainState): Promise<string[]> {
  await forgetUnpooled(state);
  const raws = [...state.pooled.values()];
  await dropTransactions(state);
  state.pooled.clear();
  return raws;
}

/** Puts transactions into the pool, and leaves out those that the chain does not accept any more. */
export async function refillPool(state: ChainState, raws: readonly string[]): Promise<void> {
  for (const raw of raws) {
    try {
      state.pooled.set((await state.edr.request("eth_sendRawTransaction", [raw])) as string, raw);
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
    }
  }
}
