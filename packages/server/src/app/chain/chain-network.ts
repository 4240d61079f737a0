/** What the configuration says about one network. */
export interface ChainNetwork {
  network: string;
  chainId: number;
  /** They can hold credentials: never logged, never shown. */
  rpcUrls: readonly string[];
  finality: { tag: "finalized" | "safe" } | { depth: number };
  /** In wei per gas. */
  feeCap: bigint;
  minimumTip: bigint;
  /** How many payments of one address may be neither in a block nor refused. */
  inFlightMax: number;
  hasDataFee: boolean;
  /** Without a pool a nonce is taken only after the one before it. */
  hasPool: boolean;
  /** The asset of the coin. */
  coin: string;
  tokens: readonly { asset: string; contract: string; decimals: number }[];
  /** By asset. */
  depositMinimum: ReadonlyMap<string, bigint>;
}
