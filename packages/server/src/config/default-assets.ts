import type { Asset } from "@bursar/domain";

const noLimit = 10n ** 60n;

/** The assets of a service that configures none. */
export const defaultAssets: readonly Asset[] = [
  { code: "USD", caip19: null, decimals: 2, network: "book", minimum: 1n, maximum: noLimit },
  { code: "ETH", caip19: "eip155:1/slip44:60", decimals: 18, network: "book", minimum: 1n, maximum: noLimit },
  {
    code: "USDC",
    caip19: "eip155:1/erc20:0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48",
    decimals: 6,
    network: "book",
    minimum: 1n,
    maximum: noLimit,
  },
];
