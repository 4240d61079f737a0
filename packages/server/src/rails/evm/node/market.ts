import { type BlockHeader, type FeeTerms, NodeUnavailableError } from "../../../app/chain/chain-node.js";
import { type FeeBounds, marketFees, type SeenFees } from "../fees/market-fees.js";
import { toQuantity } from "../keccak.js";
import { type Answer, AnswerFault, type Question, type RpcPool } from "../rpc/rpc-pool.js";
import { headerQuestion } from "./read-block.js";
import { readList, readQuantity, readRecord } from "./read-values.js";

const historyBlocks = 10;
const medianPercentile = 50;

const historyQuestion: Question<SeenFees> = {
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

/** What a transaction should pay now, by all nodes that answer. One without a history of fees says what its newest block has. */
export function createMarket(pool: RpcPool, bounds: FeeBounds): () => Promise<FeeTerms> {
  return async () => {
    const most = Math.floor(pool.endpoints.length / 2) + 1;
    const nodes = await pool.askEach(
      [historyQuestion, headerQuestion("latest")],
      // Nodes have different newest blocks. The lower of two counts.
      (given) => given.filter(({ answers }) => !("unavailable" in answers)).length >= most,
    );
    const seen = nodes.flatMap(({ answers }) => ("unavailable" in answers ? [] : seenBy(...answers)));
    if (seen.length > 0) return marketFees(seen, bounds);
    // None has answered at once, so they are asked again in turn.
    const seenLater = seenBy(...(await pool.ask([historyQuestion, headerQuestion("latest")])));
    if (seenLater.length > 0) return marketFees(seenLater, bounds);
    throw new NodeUnavailableError("No node gives a base fee.");
  };
}

function seenBy(history: Answer<SeenFees>, latest: Answer<BlockHeader>): SeenFees[] {
  if ("value" in history && history.value !== undefined) return [history.value];
  return "value" in latest && latest.value !== undefined ? [{ baseFee: latest.value.baseFee, tips: [] }] : [];
}
