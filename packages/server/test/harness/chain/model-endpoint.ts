import type { RpcOutcome } from "../../../src/rails/evm/rpc/read-response.js";
import type { RpcCall, RpcEndpoint } from "../../../src/rails/evm/rpc/rpc-endpoint.js";
import {
  balanceOf,
  type ExecutedTransaction,
  type ModelBlock,
  type ModelChain,
  modelCoin,
  modelDataFee,
  modelTokens,
} from "./model-chain.js";

export interface ModelEndpointOptions {
  name: string;
  chain: ModelChain;
  /** Called before each request: it may take time, or throw, and then nothing is answered. */
  reach: (method: string) => Promise<void>;
  /** How many blocks its head is behind. */
  lag: () => number;
  wouldRevert: (destination: string) => boolean;
  /** Whether the answer to a transaction is lost, after it was taken. */
  isAnswerLost: () => boolean;
  /** Another answer than the true one. */
  lie: (call: RpcCall, result: unknown) => unknown;
}

const transferTopic = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
/** Allows everything, so that an answer without logs is checked by receipts. */
const fullBloom = `0x${"f".repeat(512)}`;
const outside = `0x${"e".repeat(40)}`;
const balanceOfSelector = "0x70a08231";
const transferSelector = "0xa9059cbb";

const hex = (value: bigint | number) => `0x${value.toString(16)}`;
const word = (value: string | bigint) =>
  (typeof value === "string" ? value.slice(2) : value.toString(16)).padStart(64, "0");
const failed = (code: number, message: string): RpcOutcome => ({
  error: { code, message, returned: undefined },
});

/** A node of the model chain that speaks JSON-RPC, without a connection. What a real chain would compute is taken from the model. */
export function createModelEndpoint(options: ModelEndpointOptions): RpcEndpoint {
  const { name, chain, reach, lie } = options;
  return {
    name,
    pauseMs: () => 0,
    close: async () => undefined,
    call: async (calls) => {
      try {
        await reach(calls[0]?.method ?? "");
      } catch (error) {
        return calls.map(() => ({ unavailable: String(error) }));
      }
      return calls.map((call) => {
        const outcome = answer(options, call);
        if (call.method === "eth_sendRawTransaction" && options.isAnswerLost())
          return { unavailable: "the answer was lost" };
        return "result" in outcome ? { result: lie(call, outcome.result) } : outcome;
      });
    },
  };

  function answer({ lag, wouldRevert }: ModelEndpointOptions, { method, params }: RpcCall): RpcOutcome {
    const blocks = chain.blocks();
    const final = chain.final();
    const latest = blocks[Math.max(final.number, blocks.length - 1 - lag())] as ModelBlock;
    const named = (tag: unknown): ModelBlock | undefined => {
      if (tag === "latest") return latest;
      if (tag === "finalized") return final;
      const block = blocks[Number(tag)];
      return block === undefined || block.number > latest.number ? undefined : block;
    };
    const byHash = (hash: unknown) => blocks.find((block) => block.hash === hash);
    const found = (result: unknown): RpcOutcome => ({ result: result ?? null });
    const inBlocks = (hash: unknown) => {
      const block = blocks.find(({ transactions }) => transactions.some((one) => one.hash === hash));
      return block === undefined || block.number > latest.number ? undefined : block;
    };
    switch (method) {
      case "eth_chainId":
        return found("0x7a69");
      case "eth_getBlockByNumber": {
        const block = named(params[0]);
        return found(block && describeBlock(block, params[1] === true));
      }
      case "eth_getBlockByHash": {
        const block = byHash(params[0]);
        return found(block && describeBlock(block, params[1] === true));
      }
      case "eth_getLogs": {
        const { blockHash, fromBlock, toBlock } = params[0] as Record<string, string>;
        if (blockHash === undefined)
          return found(blocks.slice(Number(fromBlock), Number(toBlock) + 1).flatMap(logsOf));
        const block = byHash(blockHash);
        return block === undefined ? failed(-32000, "unknown block") : found(logsOf(block));
      }
      case "eth_getBlockReceipts": {
        const block = byHash(params[0]);
        return found(block?.transactions.map((one) => describeReceipt(block, one)));
      }
      case "eth_getTransactionReceipt":
      case "eth_getTransactionByHash": {
        const block = inBlocks(params[0]);
        const one = block?.transactions.find(({ hash }) => hash === params[0]);
        if (block === undefined || one === undefined) return found(null);
        return found(
          method === "eth_getTransactionByHash"
            ? describeTransaction(block, one)
            : describeReceipt(block, one),
        );
      }
      case "eth_getBalance": {
        const block = named(params[1]);
        if (block === undefined) return failed(-32000, "header not found");
        return found(hex(balanceOf(block.balances, String(params[0]), modelCoin)));
      }
      case "eth_getTransactionCount": {
        const block = named(params[1]);
        if (block === undefined) return failed(-32000, "header not found");
        return found(hex(block.nonces.get(String(params[0])) ?? 0));
      }
      case "eth_feeHistory":
        return found({ baseFeePerGas: [hex(latest.baseFee)], reward: [["0xa"]] });
      case "eth_estimateGas": {
        const { to = "", data } = params[0] as Record<string, string>;
        const destination = data === undefined ? to : `0x${data.slice(34, 74)}`;
        if (wouldRevert(destination)) return failed(3, "execution reverted");
        return found(hex(data === undefined ? 21_000 : 48_000));
      }
      case "eth_call":
        return answerCall(params[0] as Record<string, string>, named(params[1]));
      case "eth_sendRawTransaction":
        return chain.send(String(params[0])) === "taken"
          ? found(`0x${"0".repeat(64)}`)
          : failed(-32000, "nonce too low");
      default:
        return failed(-32601, `the method ${method} does not exist`);
    }
  }
}

function answerCall(
  { to = "", data = "" }: Record<string, string>,
  block: ModelBlock | undefined,
): RpcOutcome {
  const asset = modelTokens.find(({ contract }) => contract === to)?.asset;
  if (asset === undefined) return { result: `0x${word(modelDataFee)}` };
  if (data.startsWith(transferSelector)) return { result: `0x${word(1n)}` };
  if (!data.startsWith(balanceOfSelector) || block === undefined) return failed(-32000, "header not found");
  return { result: `0x${word(balanceOf(block.balances, `0x${data.slice(-40)}`, asset))}` };
}

function describeBlock(block: ModelBlock, isFull: boolean) {
  return {
    number: hex(block.number),
    hash: block.hash,
    parentHash: block.parentHash,
    timestamp: hex(block.number),
    baseFeePerGas: hex(block.baseFee),
    logsBloom: fullBloom,
    transactions: block.transactions.map((one) => (isFull ? describeTransaction(block, one) : one.hash)),
  };
}

/** The coins of a transaction that reverts do not move, but it still names them. */
function describeTransaction(
  { hash: blockHash }: ModelBlock,
  { hash, intent, transfers }: ExecutedTransaction,
) {
  const coin = transfers.find(({ asset }) => asset === modelCoin);
  const isCoin = intent === undefined ? coin !== undefined : intent.contract === null;
  return {
    ...{ hash, blockHash, from: intent?.address ?? outside },
    to: isCoin ? (intent?.destination ?? coin?.to) : (intent?.contract ?? modelTokens[0]?.contract),
    value: hex(isCoin ? (intent?.amount ?? coin?.amount ?? 0n) : 0n),
  };
}

function describeReceipt(block: ModelBlock, { hash, intent, success, fee }: ExecutedTransaction) {
  const isOwn = intent !== undefined;
  return {
    ...{ transactionHash: hash, blockHash: block.hash, status: success ? "0x1" : "0x0" },
    gasUsed: isOwn ? "0x1" : "0x0",
    effectiveGasPrice: hex(isOwn ? fee - modelDataFee : 0n),
    l1Fee: hex(isOwn ? modelDataFee : 0n),
    logs: logsOf(block).filter((log) => log.transactionHash === hash),
  };
}

function logsOf({ hash: blockHash, transactions }: ModelBlock) {
  let index = 0;
  return transactions.flatMap(({ hash, success, transfers }) =>
    (success ? transfers : []).flatMap(({ asset, from, to, amount }) => {
      const contract = modelTokens.find((token) => token.asset === asset)?.contract;
      if (contract === undefined) return [];
      return {
        ...{ address: contract, topics: [transferTopic, `0x${word(from)}`, `0x${word(to)}`] },
        ...{ data: `0x${word(amount)}`, transactionHash: hash, blockHash, logIndex: hex(index++) },
      };
    }),
  );
}
