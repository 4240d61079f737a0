import type { Asset } from "@bursar/domain";
import type { ChainNetwork } from "../../app/chain/chain-network.js";
import type { NetworkDefinition } from "../../config/network-list.js";
import { ConfigError } from "../../config/setting.js";

const coinDecimals = 18;
const coinReference = "slip44:60";
const tokenReference = /^erc20:(0x[0-9a-fA-F]{40})$/;

/** The configured chains with their assets: one coin, and tokens. */
export function readChainNetworks(
  definitions: readonly NetworkDefinition[],
  assets: readonly Asset[],
): ChainNetwork[] {
  return definitions.map((definition, index) => {
    const { network } = definition;
    const own = assets.flatMap((asset, position) =>
      asset.network === network ? [readChainAsset(asset, position)] : [],
    );
    const coin = own.find(({ contract }) => contract === null);
    if (coin === undefined)
      throw new ConfigError(
        `networks[${index}] (${network}) has no asset for its coin, in which fees are paid. Add one with the network ${network}, the caip19 ${network}/${coinReference} and ${coinDecimals} decimals.`,
      );
    return {
      ...definition,
      chainId: Number(network.slice(network.indexOf(":") + 1)),
      coin: coin.asset,
      tokens: own.flatMap(({ contract, ...token }) => (contract === null ? [] : [{ ...token, contract }])),
      depositMinimum: new Map(
        assets.flatMap(({ code, network: at, depositMinimum }) =>
          at === network && depositMinimum !== undefined ? [[code, depositMinimum] as const] : [],
        ),
      ),
    };
  });
}

function readChainAsset(asset: Asset, position: number) {
  const { code, network, caip19, decimals } = asset;
  const [chain, reference = ""] = (caip19 ?? "").split("/");
  const contract = tokenReference.exec(reference)?.[1]?.toLowerCase() ?? null;
  if (chain !== network || (reference !== coinReference && contract === null))
    throw new ConfigError(
      `assets[${position}].caip19 of ${code} is ${JSON.stringify(caip19 ?? "")}: it must be ${network}/${coinReference} for the coin, or ${network}/erc20:0x… with the address of a token.`,
    );
  if (contract === null && decimals !== coinDecimals)
    throw new ConfigError(
      `assets[${position}].decimals of ${code} is ${decimals}: it must be ${coinDecimals}, like every coin of an EVM chain.`,
    );
  return { asset: code, contract, decimals };
}
