/**
 * The methods that a node serves. Everything else is refused: other methods of the EVM would change the chain without the journal.
 * `block` is the position of the parameter that names a block by number or tag, and what the answer is if the node does not have it.
 */
export interface Method {
  readonly block?: { readonly at: number; readonly unknown: "null" | "error" };
  /** The first parameter is a filter with `fromBlock` and `toBlock`, or `blockHash`. */
  readonly filter?: true;
  /** Served by this package instead of the EVM. */
  readonly own?: true;
}

const state = (at: number): Method => ({ block: { at, unknown: "error" } });
const plain: Method = {};

export const methods: Readonly<Record<string, Method>> = {
  debug_traceCall: state(1),
  debug_traceTransaction: plain,
  eth_accounts: plain,
  eth_blockNumber: plain,
  eth_call: state(1),
  eth_chainId: plain,
  eth_coinbase: plain,
  eth_estimateGas: state(1),
  eth_feeHistory: state(1),
  eth_gasPrice: plain,
  eth_getBalance: state(1),
  eth_getBlockByHash: plain,
  eth_getBlockByNumber: { block: { at: 0, unknown: "null" } },
  eth_getBlockReceipts: { block: { at: 0, unknown: "null" }, own: true },
  eth_getBlockTransactionCountByHash: plain,
  eth_getBlockTransactionCountByNumber: { block: { at: 0, unknown: "null" } },
  eth_getCode: state(1),
  eth_getLogs: { filter: true },
  eth_getStorageAt: state(2),
  eth_getTransactionByBlockHashAndIndex: plain,
  eth_getTransactionByBlockNumberAndIndex: { block: { at: 0, unknown: "null" } },
  eth_getTransactionByHash: plain,
  eth_getTransactionCount: state(1),
  eth_getTransactionReceipt: plain,
  eth_maxPriorityFeePerGas: plain,
  eth_sendRawTransaction: { own: true },
  eth_syncing: plain,
  net_listening: plain,
  net_peerCount: plain,
  net_version: plain,
  web3_clientVersion: plain,
  web3_sha3: plain,
};
