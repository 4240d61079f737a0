import type { RpcCall } from "../rpc-endpoint.js";

const kibibyte = 1024;
/** A quantity, the result of a call, or an error with the data of a revert. */
const smallBytes = 16 * kibibyte;
/** A header with the hashes of 10,000 transactions, or a transaction with the largest input that nodes accept. */
const mediumBytes = 1024 * kibibyte;

const mediumMethods = new Set(["eth_getTransactionByHash", "eth_getCode"]);
/** What contracts decide the size of: anybody can emit logs. */
const largeMethods = new Set(["eth_getLogs", "eth_getBlockReceipts", "eth_getTransactionReceipt"]);

/**
 * The most bytes that an honest answer to these calls has. All of an answer is parsed on the event loop: 30 MB in the answer about the head,
 * which every node is asked for each second, held up the process for 1.8 s.
 */
export function answerBytesOf(calls: readonly RpcCall[], largeBytes: number): number {
  const bytes = calls.reduce((sum, call) => sum + answerBytes(call, largeBytes), 0);
  return Math.min(bytes, largeBytes);
}

/** Whether senders of transactions decide how large the answer is. */
export function mayBeLarge({ method, params }: RpcCall): boolean {
  // With `true` a block contains its transactions, else only their hashes.
  return largeMethods.has(method) || (method.startsWith("eth_getBlockBy") && params[1] === true);
}

function answerBytes(call: RpcCall, largeBytes: number): number {
  if (mayBeLarge(call)) return largeBytes;
  const { method } = call;
  return mediumMethods.has(method) || method.startsWith("eth_getBlockBy") ? mediumBytes : smallBytes;
}
