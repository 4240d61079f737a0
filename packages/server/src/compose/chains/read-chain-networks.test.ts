import type { Asset } from "@bursar/domain";
import { expect, it } from "vitest";
import { networkList } from "../../config/network-list.js";
import { ConfigError } from "../../config/setting.js";
import { readChainNetworks } from "./read-chain-networks.js";

const network = "eip155:5";
const definitions = networkList.read([{ network, rpc_urls: "https://node.example" }]);
const limits = { minimum: 1n, maximum: 10n };
const coin: Asset = { code: "ETH", caip19: `${network}/slip44:60`, decimals: 18, network, ...limits };
const contract = "0x8464135c8F25Da09e49BC8782676a84730C318bC";
const token: Asset = { code: "T", caip19: `${network}/erc20:${contract}`, decimals: 6, network, ...limits };
const ofBook: Asset = { code: "USD", caip19: null, decimals: 2, network: "book", ...limits };

it("a chain has its coin and its tokens, and what smaller deposits add up to", () => {
  const [chain] = readChainNetworks(definitions, [ofBook, coin, { ...token, depositMinimum: 7n }]);
  expect(chain).toMatchObject({
    network,
    chainId: 5,
    coin: "ETH",
    tokens: [{ asset: "T", contract: contract.toLowerCase(), decimals: 6 }],
    depositMinimum: new Map([["T", 7n]]),
  });
});

it.each<[what: string, assets: Asset[], message: string]>([
  ["a chain without a coin", [ofBook, token], "networks[0] (eip155:5) has no asset for its coin"],
  [
    "an asset without an identifier",
    [coin, { ...token, caip19: null }],
    'assets[1].caip19 of T is "": it must be eip155:5/slip44:60 for the coin, or eip155:5/erc20:0x…',
  ],
  [
    "an asset of another chain",
    [coin, { ...token, caip19: `eip155:1/erc20:${contract}` }],
    "assets[1].caip19 of T is",
  ],
  [
    "an identifier that is no token",
    [coin, { ...token, caip19: `${network}/erc20:0x12` }],
    "assets[1].caip19 of T is",
  ],
  ["a coin with other decimals", [{ ...coin, decimals: 9 }], "assets[0].decimals of ETH is 9: it must be 18"],
])("%s is refused with one sentence", (_what, assets, message) => {
  const read = () => readChainNetworks(definitions, assets);
  expect(read).toThrow(ConfigError);
  expect(read).toThrow(message);
});
