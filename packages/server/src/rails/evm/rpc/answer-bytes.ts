import type { RpcCall } from "./rpc-endpoint.js";

const kibibyte = 1024;
/** A quantity, the result of a call, or an error with the data of a revert. */
const smallBytes = 16 * kibibyte;
/** A header with the hashes of 10,000 transactions, or a transaction with the largest input that nodes accept. */
const mediumBytes = 1024 * kibibyte;

const mediumMethods = new Set(["eth_getTransactionByHash", "eth_getTransactionReceipt", "eth_getCode"]);
const largeMethods = new Set(["eth_getLogs", "eth_getBlockReceipts"]);

/**
 * The most bytes that an honest answer to these calls has. All of an answer is parsed on the event loop: 30 MB in the answer about the head,
 * which every node is asked for each second, held up the process for 1.8 s.
 */
export function answerBytesOf(calls: readonly RpcCall[], largeBytes: number): number {
  const bytes = calls.reduce((sum, call) => sum + answerBytes(call, largeBytes), 0);
  return Math.min(bytes, largeBytes);
}

function answerBytes({ method, params }: RpcCall, largeBytes: number): number {
  if (largeMethods.has(method)) return largeBytes;
  // With `true` a block contains its transactions, else only their hashes.
  if (method.startsWith("eth_getBlockBy")) return params[1] === true ? largeBytes : mediumBytes;
  return mediumMethods.has(method) ? mediumBytes : smallBytes;
}
