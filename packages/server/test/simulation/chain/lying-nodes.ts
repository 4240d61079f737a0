import type { ChainNode } from "../../../src/app/chain/chain-node.js";
import { createEvmNode } from "../../../src/rails/evm/node/evm-node.js";
import type { RpcCall } from "../../../src/rails/evm/rpc/rpc-endpoint.js";
import type { Timers } from "../../../src/runtime/loops/timers.js";
import { createModelEndpoint, type ModelEndpointOptions } from "../../harness/chain/model-endpoint.js";
import { modelChainNetwork } from "../../harness/chain/model-network.js";
import type { Random } from "../world/random.js";

export interface LyingNodesDeps extends Omit<ModelEndpointOptions, "name" | "lie"> {
  random: Random;
  /** Which of the two lies. */
  liar: number;
  isLying: () => boolean;
  onLie: (method: string) => void;
  /** A planted bug: only the first node is asked. */
  trustsOneNode: boolean;
  timers: Pick<Timers, "after">;
  monotonicMs: () => number;
}

/** Two nodes behind the code that asks real ones. One of them lies now and then, in answers that could be true. */
export function createLyingNodes(deps: LyingNodesDeps): ChainNode {
  const { random, liar, isLying, onLie, trustsOneNode, timers, monotonicMs, ...options } = deps;
  const endpoints = [0, 1].map((index) =>
    createModelEndpoint({
      ...options,
      name: `Node ${index + 1}`,
      lie: (call, result) => {
        const isLie = index === liar && isLying() && random.chance(lieChance);
        const changed = isLie ? change(call, result, random) : undefined;
        if (changed === undefined) return result;
        onLie(call.method);
        return changed;
      },
    }),
  );
  return createEvmNode({
    network: { ...modelChainNetwork, finality: { tag: "finalized" } },
    endpoints: trustsOneNode ? endpoints.slice(liar, liar + 1) : endpoints,
    ...{ timers, monotonicMs, random: random.next },
  });
}

const lieChance = 0.1;

type Answer = Record<string, unknown>;
const raise = (quantity: unknown, by: bigint) => `0x${(BigInt(quantity as string) + by).toString(16)}`;

/** A lie; undefined if there is nothing to lie about. */
function change({ method, params }: RpcCall, result: unknown, random: Random): unknown {
  if (result === null) return undefined;
  switch (method) {
    case "eth_getBlockByNumber":
      return params[0] === "latest" ? raiseHead(result as Answer) : raiseValues(result as Answer);
    case "eth_getBlockByHash":
      return raiseValues(result as Answer);
    case "eth_getLogs":
      return random.chance(0.5) ? [] : raiseLogs(result as Answer[]);
    case "eth_getTransactionReceipt":
      return changeReceipt(result as Answer, random);
    case "eth_getBlockReceipts":
      return (result as Answer[]).map((receipt) => changeReceipt(receipt, random));
    case "eth_getBalance":
    case "eth_getTransactionCount":
      return raise(result, 3n);
    case "eth_call":
      return `0x${BigInt(raise(result, 7n)).toString(16).padStart(64, "0")}`;
    default:
      return undefined;
  }
}

function raiseHead(block: Answer): Answer {
  return { ...block, number: raise(block["number"], 60n), hash: `0xd${String(block["hash"]).slice(3)}` };
}

/** Coins that arrived are a thousand more. */
function raiseValues(block: Answer): Answer | undefined {
  const transactions = block["transactions"] as (Answer | string)[];
  if (!transactions.some((one) => typeof one === "object" && one["value"] !== "0x0")) return undefined;
  return {
    ...block,
    transactions: transactions.map((one) =>
      typeof one === "string" || one["value"] === "0x0" ? one : { ...one, value: raise(one["value"], 1000n) },
    ),
  };
}

function raiseLogs(logs: readonly Answer[]): Answer[] | undefined {
  if (logs.length === 0) return undefined;
  return logs.map((log) => ({
    ...log,
    data: `0x${(BigInt(log["data"] as string) + 1000n).toString(16).padStart(64, "0")}`,
  }));
}

function changeReceipt(receipt: Answer, random: Random): Answer {
  if (random.chance(0.5)) return { ...receipt, l1Fee: raise(receipt["l1Fee"], 1000n) };
  return { ...receipt, status: receipt["status"] === "0x1" ? "0x0" : "0x1" };
}
