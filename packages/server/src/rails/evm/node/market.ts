import type { FeeTerms } from "../../../app/chain/chain-node.js";
import { NodeUnavailableError } from "../../../app/chain/chain-node.js";
import { type FeeBounds, marketFees } from "../fees/market-fees.js";
import { toQuantity } from "../keccak.js";
import { AnswerFault, type Question, type RpcPool } from "../rpc/rpc-pool.js";
import { headerQuestion } from "./read-block.js";
import { readList, readQuantity, readRecord } from "./read-values.js";

const historyBlocks = 10;
const medianPercentile = 50;

interface FeeHistory {
  /** Of the block after the newest one. */
  readonly baseFee: bigint;
  readonly tips: readonly bigint[];
}

const historyQuestion: Question<FeeHistory> = {
  method: "eth_feeHistory",
  params: [toQuantity(historyBlocks), "latest", [medianPercentile]],
  read: (result) => {
    const history = readRecord(result, "the history of fees");
    const baseFee = readList(history["baseFeePerGas"], "baseFeePerGas").at(-1);
    const rewards = readList(history["reward"] ?? [], "reward");
    if (baseFee === undefined) throw new AnswerFault("the history of fees is empty");
    return {
      baseFee: readQuantity(baseFee, "baseFeePerGas"),
      tips: rewards.map((reward) => readQuantity(readList(reward, "reward")[0], "reward")),
    };
  },
};

/** What a transaction should pay now. Nodes without a history of fees are asked for their newest block. */
export function createMarket(pool: RpcPool, bounds: FeeBounds): () => Promise<FeeTerms> {
  return async () => {
    const [history] = await pool.ask([historyQuestion]);
    if ("value" in history && history.value !== undefined)
      return marketFees(history.value.baseFee, history.value.tips, bounds);
    const [latest] = await pool.ask([headerQuestion("latest")]);
    if ("value" in latest && latest.value !== undefined) return marketFees(latest.value.baseFee, [], bounds);
    throw new NodeUnavailableError("No node gives a base fee.");
  };
}
