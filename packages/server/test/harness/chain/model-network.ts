import { createAssetRegistry } from "@bursar/domain";
import type { ChainNetwork } from "../../../src/app/chain/chain-network.js";
import { modelCoin, modelTokens } from "./model-chain.js";

export const modelNetwork = "eip155:31337";

export const modelAssets = createAssetRegistry(
  [modelCoin, ...modelTokens.map(({ asset }) => asset)].map((code) => ({
    ...{ code, caip19: null, decimals: 6, network: modelNetwork },
    ...{ minimum: 1n, maximum: 10n ** 30n },
  })),
);

/** The model chain, as the configuration would say it. */
export const modelChainNetwork: ChainNetwork = {
  ...{ network: modelNetwork, chainId: 31337, rpcUrls: [], finality: { depth: 4 } },
  ...{
    feeCap: 100_000n,
    feeMax: 10n ** 12n,
    minimumTip: 1n,
    tipMax: 10n ** 9n,
    inFlightMax: 4,
    hasDataFee: true,
    hasPool: true,
    coin: modelCoin,
  },
  tokens: modelTokens,
  depositMinimum: new Map([["USDC.SIM", 100n]]),
};
