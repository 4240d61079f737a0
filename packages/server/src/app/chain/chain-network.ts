/** What the configuration says about one chain, with the assets that live on it. */
export interface ChainNetwork {
  /** The CAIP-2 id, such as `eip155:1`. */
  network: string;
  chainId: number;
  /** Secrets: never logged, never shown. */
  rpcUrls: readonly string[];
  finality: { tag: "finalized" | "safe" } | { depth: number };
  /** The most that a payment may offer for a unit of gas, in wei. */
  feeCap: bigint;
  /** The most that a payment may cost, in wei. */
  feeMax: bigint;
  minimumTip: bigint;
  /** The most that the first attempt of a payment offers as its tip for a unit of gas, in wei. */
  tipMax: bigint;
  /** How many payments of an address may be sent and not final. */
  inFlightMax: number;
  hasDataFee: boolean;
  /** False if its nodes accept only the next transaction of a sender. */
  hasPool: boolean;
  /** The code of the coin, in which fees are paid. */
  coin: string;
  tokens: readonly ChainToken[];
  /** By asset code; in base units. */
  depositMinimum: ReadonlyMap<string, bigint>;
}

interface ChainToken {
  asset: string;
  /** The address of its contract, in lower case. */
  contract: string;
  decimals: number;
}
