import type { ChainNode } from "../../../app/chain/chain-node.js";
import { NodeUnavailableError } from "../../../app/chain/chain-node.js";
import type { Timers } from "../../../runtime/loops/timers.js";
import type { FeeBounds } from "../fees/market-fees.js";
import { createRpcEndpoint, type RpcEndpoint } from "../rpc/rpc-endpoint.js";
import { createRpcPool, describeError } from "../rpc/rpc-pool.js";
import { createAgreedHeaders, rankHeaders } from "./agreed-headers.js";
import { createBlockReader } from "./blocks.js";
import { createStateReader } from "./chain-state.js";
import { createEstimate } from "./estimate.js";
import { createNonceSearch } from "./find-nonce-use.js";
import { createHeads, type Finality } from "./heads.js";
import { createLaggingNodes, type LaggingNode, type LaggingNodes } from "./lagging-nodes.js";
import { createMarket } from "./market.js";
import { createSecondOpinion } from "./opinion/second-opinion.js";
import { createProbe, type NetworkFacts } from "./probe.js";
import { headerQuestion } from "./read-block.js";
import { createReceiptReader } from "./receipts.js";
import { createSend } from "./send.js";

/** What the configuration says about a network, as far as its nodes are concerned. */
export interface EvmNodeSettings extends FeeBounds {
  network: string;
  chainId: number;
  /** They are secrets, and are in no message. */
  rpcUrls: readonly string[];
  finality: Finality;
  hasDataFee: boolean;
  hasPool: boolean;
  tokens: readonly { asset: string; contract: string; decimals: number }[];
}

export interface EvmNodeDeps {
  network: EvmNodeSettings;
  timers: Pick<Timers, "after">;
  monotonicMs: () => number;
  /** From 0 to 1. */
  random: () => number;
  /** For each request; 10 s unless it is given. */
  timeoutMs?: number;
  /** Called when a node begins to hold finality back. */
  onLagging?: (node: LaggingNode) => void;
  /** In the place of those of its URLs. */
  endpoints?: readonly RpcEndpoint[];
}

export interface EvmNode extends ChainNode {
  /** Throws an `OperatorError` if the configuration is not about this network. */
  probe: () => Promise<NetworkFacts>;
  /** For each node whether it holds finality back; nothing while this process does not follow the network. */
  readLagging: LaggingNodes["read"];
  close: () => Promise<void>;
}

/** The nodes of an EVM network behind JSON-RPC. */
export function createEvmNode({
  network: settings,
  timers,
  monotonicMs,
  random,
  timeoutMs,
  onLagging = () => undefined,
  endpoints: given,
}: EvmNodeDeps): EvmNode {
  const { network, rpcUrls, hasDataFee, hasPool } = settings;
  const openUrl = (url: string, index: number) =>
    createRpcEndpoint({
      name: `Node ${index + 1} of ${network}`,
      url,
      monotonicMs,
      random,
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
    });
  const endpoints = given ?? rpcUrls.map(openUrl);
  const pool = createRpcPool({ network, endpoints, timers, monotonicMs });
  const opinion = createSecondOpinion(pool, monotonicMs);
  const lagging = createLaggingNodes({ names: endpoints.map(({ name }) => name), monotonicMs, onLagging });
  const heads = createHeads({ ...settings, pool, confirmKept: opinion.confirmKept, lagging });
  const readReceipts = createReceiptReader(pool);
  const state = createStateReader(pool);
  const header: ChainNode["header"] = async (number) => {
    const [answer] = await pool.ask([headerQuestion(number)]);
    if ("value" in answer) return answer.value;
    throw new NodeUnavailableError(
      `No node of ${network} gives block ${number}: ${describeError(answer.error)}.`,
    );
  };
  const headersAt: ChainNode["headersAt"] = async (number) => {
    const answered = await pool.askEach([headerQuestion(number)]);
    const headers = answered.flatMap(({ name, answers }) => {
      const [answer] = "unavailable" in answers ? [] : answers;
      const header = answer !== undefined && "value" in answer ? answer.value : undefined;
      return header === undefined ? [] : [{ name, header }];
    });
    return rankHeaders(headers).map(({ header }) => header);
  };
  const finalHeaders = createAgreedHeaders(network, pool);
  return {
    network,
    heads: heads.read,
    ...createBlockReader({ pool, readReceipts, opinion, finalHeaders }),
    header,
    headersAt,
    finalHeaders,
    ...state,
    findNonceUse: createNonceSearch({ pool, header, noncesAt: state.noncesAt, readReceipts, opinion }),
    estimate: createEstimate({ pool, hasDataFee, newestNumber: heads.sharedNumber }),
    market: createMarket(pool, settings),
    send: createSend(endpoints, hasPool),
    readLagging: lagging.read,
    probe: createProbe({ ...settings, pool }),
    close: pool.close,
  };
}
