import { RpcError, rpcCodes } from "../rpc-error.js";
import { addBlock, addStep, type BlockRef, type ChainState, headOf, refuseIfFull } from "./chain-state.js";
import { keepCheckpoint, reorganisationMax } from "./checkpoints.js";
import { toHex } from "./hex.js";
import type { JournalBlock, ReplayStep } from "./journal.js";
import { emptyPool, forgetUnpooled, refillPool, sendTransaction } from "./pool.js";

export interface MineRequest {
  /** Seconds. By default the clock's time, or one second after the block before if that is later. */
  readonly timestamp?: number | undefined;
  /** Exactly these signed transactions, in this order, instead of what is in the pool. */
  readonly transactions?: readonly string[] | undefined;
}

/** Mines one block and writes it to the journal. The caller holds the mutex, so nobody sees the block before it is safe. */
export async function mineBlock(state: ChainState, request: MineRequest = {}): Promise<BlockRef> {
  refuseIfFull(state, 1);
  const timestamp = checkTimestamp(state, request.timestamp);
  await keepCheckpoint(state);
  const { transactions } = request;
  const block =
    transactions === undefined
      ? await executeBlock(state, timestamp)
      : await withOnly(state, transactions, () => executeBlock(state, timestamp));
  await state.journal.append({ type: "block", ...block });
  addBlock(state, block);
  await forgetUnpooled(state);
  return headOf(state);
}

/** Runs a task while the pool holds only the given transactions; the others return afterwards. */
async function withOnly<T>(
  state: ChainState,
  transactions: readonly string[],
  task: () => Promise<T>,
): Promise<T> {
  const others = await emptyPool(state);
  try {
    for (const raw of transactions) await sendTransaction(state, raw);
    return await task();
  } catch (error) {
    await emptyPool(state);
    throw error;
  } finally {
    await refillPool(state, others);
  }
}

function checkTimestamp(state: ChainState, wanted: number | undefined): number {
  const earliest = headOf(state).timestamp + 1;
  if (wanted === undefined) return Math.max(earliest, Math.floor(state.now() / 1000));
  if (wanted >= earliest) return wanted;
  throw new RpcError(rpcCodes.invalidParams, `The next block's timestamp must be at least ${earliest}.`);
}

/** Mines what is in the EVM's pool; the result is not yet part of the state or the journal. */
export async function executeBlock(state: ChainState, timestamp: number): Promise<JournalBlock> {
  const { edr, baseFee } = state;
  const coinbase = coinbaseOf(state.branch);
  await edr.request("hardhat_setCoinbase", [coinbase]);
  if (baseFee !== undefined) await edr.request("hardhat_setNextBlockBaseFeePerGas", [toHex(baseFee.wei)]);
  await edr.request("evm_mine", [toHex(timestamp)]);
  const block = (await edr.request("eth_getBlockByNumber", ["latest", false])) as {
    number: string;
    hash: string;
    transactions: string[];
  };
  if (baseFee !== undefined && !baseFee.hold) state.baseFee = undefined;
  return {
    number: Number(block.number),
    hash: block.hash,
    timestamp,
    coinbase,
    ...(baseFee === undefined ? {} : { baseFee: baseFee.wei.toString() }),
    transactions: block.transactions.map((hash) => rawOf(state, hash)),
  };
}

function rawOf({ pooled }: ChainState, hash: string): string {
  const raw = pooled.get(hash);
  if (raw === undefined) throw new Error(`the bytes of the mined transaction ${hash} are unknown`);
  return raw;
}

/** Blocks of different branches pay different accounts, so they differ even if everything else is the same. */
function coinbaseOf(branch: number): string {
  return `0xc0${branch.toString(16).padStart(38, "0")}`;
}

function branchOf(coinbase: string): number {
  return Number(`0x${coinbase.slice(4)}`);
}

/** Executes recorded steps again. Every hash must be the recorded one. */
export async function replay(state: ChainState, steps: readonly ReplayStep[]): Promise<void> {
  for (const [index, step] of steps.entries()) {
    // Nothing can return to a snapshot that is further back, and the EVM would keep it.
    if (steps.length - index <= 2 * reorganisationMax) await keepCheckpoint(state);
    if (step.type === "block") await replayBlock(state, step);
    else await replayStateChange(state, step);
  }
}

async function replayStateChange(state: ChainState, step: ReplayStep & { type: "state" }): Promise<void> {
  await state.edr.request(step.method, step.params);
  addStep(state, step);
}

async function replayBlock(state: ChainState, recorded: JournalBlock): Promise<void> {
  state.branch = branchOf(recorded.coinbase);
  state.baseFee = recorded.baseFee === undefined ? undefined : { wei: BigInt(recorded.baseFee), hold: false };
  for (const raw of recorded.transactions)
    state.pooled.set((await state.edr.request("eth_sendRawTransaction", [raw])) as string, raw);
  const block = await executeBlock(state, recorded.timestamp);
  if (block.hash !== recorded.hash)
    throw new Error(
      `Block ${recorded.number} of the journal was ${recorded.hash} and is ${block.hash} when it is executed again. The journal was written by another version; delete the folder to begin a new chain.`,
    );
  state.pooled.clear();
  addBlock(state, block);
}
