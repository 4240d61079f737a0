import type { ChainNode } from "../../../app/chain/chain-node.js";
import { NodeUnavailableError } from "../../../app/chain/chain-node.js";
import type { Timers } from "../../../runtime/loops/timers.js";
import type { FeeBounds } from "../fees/market-fees.js";
import { createRpcEndpoint, type RpcEndpoint } from "../rpc/rpc-endpoint.js";
import { describeError } from "../rpc/rpc-error.js";
import { createRpcPool } from "../rpc/rpc-pool.js";
import { createAgreedHeaders, createHeadersAt, createParentCheck } from "./agreed-headers.js";
import { createBlockReader } from "./blocks.js";
import { createStateReader } from "./chain-state.js";
import { createEstimate } from "./estimate.js";
import { createNonceSearch } from "./find-nonce-use.js";
import { createMarket } from "./market.js";
import { createIncludedSearch } from "./opinion/find-included.js";
import { createSecondOpinion } from "./opinion/second-opinion.js";
import { createProbe, type Probe } from "./probe/probe.js";
import { headerQuestion } from "./read-block.js";
import { createReceiptReader } from "./receipts.js";
import { createSend } from "./send.js";
import { createHeads } from "./watch/heads.js";
import { createLaggingNodes, type LaggingNode, type LaggingNodes } from "./watch/lagging-nodes.js";
import type { Finality } from "./watch/look-at-nodes.js";
import { createOddNodes, type OddNode, type OddNodes } from "./watch/odd-nodes.js";

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
  /** Called when a node contradicts the larger group. */
  onOdd?: (node: OddNode) => void;
  /** In the place of those of its URLs. */
  endpoints?: readonly RpcEndpoint[];
}

export interface EvmNode extends ChainNode {
  /** Throws an `OperatorError` if the configuration is not about this network. */
  probe: Probe;
  /** For each node whether it holds finality back; nothing while this process does not follow the network. */
  readLagging: LaggingNodes["read"];
  /** For each node whether it has contradicted the larger group in the last minutes. */
  readOdd: OddNodes["read"];
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
  onOdd = () => undefined,
  endpoints: given,
}: EvmNodeDeps): EvmNode {
  const { network, rpcUrls, hasDataFee, hasPool } = settings;
  const openUrl = (url: string, index: number) =>
    createRpcEndpoint({
      name: `Node ${index + 1} of ${network}`,
      url,
      timers,
      monotonicMs,
      random,
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
    });
  const endpoints = given ?? rpcUrls.map(openUrl);
  const names = endpoints.map(({ name }) => name);
  const odd = createOddNodes({ names, monotonicMs, onOdd });
  const pool = createRpcPool({ network, endpoints, timers, monotonicMs, seeOdd: odd.see, isOdd: odd.isOdd });
  const { read: readReceipts, giveUp } = createReceiptReader(pool, monotonicMs);
  const opinion = createSecondOpinion(pool, monotonicMs, giveUp);
  const lagging = createLaggingNodes({ names, monotonicMs, onLagging });
  const heads = createHeads({ ...settings, pool, monotonicMs, opinion, lagging });
  const state = createStateReader(pool);
  const header: ChainNode["header"] = async (number) => {
    const [answer] = await pool.ask([headerQuestion(number)]);
    if ("value" in answer) return answer.value;
    throw new NodeUnavailableError(
      `No node of ${network} gives block ${number}: ${describeError(answer.error)}.`,
    );
  };
  const headers: ChainNode["headers"] = async (numbers) =>
    (await pool.ask(numbers.map(headerQuestion))).flatMap((answer) =>
      "value" in answer && answer.value !== undefined ? [answer.value] : [],
    );
  const readAgreed = createAgreedHeaders(network, pool);
  return {
    network,
    isAlone: endpoints.length < 2,
    heads: heads.read,
    forgetFinal: heads.forgetFinal,
    ...createBlockReader({ pool, readReceipts, opinion, readAgreed }),
    header,
    headers,
    headersAt: createHeadersAt(pool),
    misnamedParents: createParentCheck(pool),
    isToConfirm: opinion.isToConfirm,
    finalHeaders: async (numbers) => (await readAgreed(numbers)).headers,
    ...state,
    findNonceUse: createNonceSearch({ pool, readAgreed, noncesAt: state.noncesAt, readReceipts, opinion }),
    findIncluded: createIncludedSearch({ pool, readAgreed, readReceipts, opinion }),
    estimate: createEstimate({ pool, hasDataFee, newestNumber: heads.sharedNumber }),
    market: createMarket(pool, settings),
    send: createSend({ endpoints, hasPool, timers }),
    readLagging: lagging.read,
    readOdd: odd.read,
    probe: createProbe({ ...settings, pool, timers }),
    close: pool.close,
  };
}
