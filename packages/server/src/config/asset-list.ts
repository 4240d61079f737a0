import { type Asset, formatAmount, parseAmount } from "@bursar/domain";
import { list } from "./list-setting.js";
import { ConfigError, integer, matching } from "./setting.js";

const noLimit = 10n ** 60n;

const defaultAssets: readonly Asset[] = [
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

const amount = "a decimal number greater than zero, with no more decimals than the asset";

export const assetList = list({
  about:
    "The assets that can be held and moved. An asset that is stored in the database must stay, with the same decimals.",
  default: defaultAssets,
  entriesMax: 200,
  fields: {
    // No hyphen, because a market is named by two codes with a hyphen between them.
    code: matching(
      { about: "The code that requests use." },
      /^[A-Za-z0-9][A-Za-z0-9._]{0,31}$/,
      "1 to 32 letters, digits, dots or underscores",
    ),
    caip19: matching(
      { about: "Its CAIP-19 identifier, if it exists on a chain; requests can use it too.", default: "" },
      /^(?=.{1,128}$)[-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}\/[-a-z0-9]{3,8}:[-.%a-zA-Z0-9]{1,128}(\/[-.%a-zA-Z0-9]{1,78})?$/,
      "a CAIP-19 identifier of at most 128 characters, such as eip155:1/slip44:60",
    ),
    decimals: integer(
      { about: "The number of decimals. Amounts are stored in the smallest unit, so this never changes." },
      { min: 0, max: 18 },
    ),
    network: matching(
      { about: "The network that moves it; `book` is the service's own ledger." },
      /^[a-z0-9][a-z0-9:_-]{0,63}$/,
      "the name of a network",
    ),
    minimum: matching({ about: "The minimum amount of a transaction." }, /^[0-9.]{1,79}$/, amount),
    maximum: matching({ about: "The maximum amount of a transaction." }, /^[0-9.]{1,79}$/, amount),
    deposit_minimum: matching(
      {
        about:
          "On a chain, the minimum amount of a deposit. Smaller ones are credited once they add up to it. Without it every amount is credited.",
        default: "",
      },
      /^[0-9.]{1,79}$/,
      amount,
    ),
  },
  make: ({ code, caip19, decimals, network, deposit_minimum, ...limits }) => {
    const minimum = parseAmount(limits.minimum, decimals);
    if (typeof minimum === "string") return { field: "minimum", allowed: amount };
    const maximum = parseAmount(limits.maximum, decimals);
    if (typeof maximum === "string") return { field: "maximum", allowed: amount };
    if (maximum < minimum) return { field: "maximum", allowed: `at least the minimum, ${limits.minimum}` };
    const asset: Asset = {
      ...{ code, caip19: caip19 === "" ? null : caip19, decimals, network },
      ...{ minimum, maximum },
    };
    if (deposit_minimum === "") return asset;
    const depositMinimum = parseAmount(deposit_minimum, decimals);
    if (typeof depositMinimum === "string") return { field: "deposit_minimum", allowed: amount };
    if (network === "book") return { field: "deposit_minimum", allowed: "left out for an asset of the book" };
    return { ...asset, depositMinimum };
  },
  namesOf: ({ code, caip19 }) => ({ code, ...(caip19 === null ? {} : { caip19 }) }),
  show: ({ code, caip19, decimals, network, minimum, maximum, depositMinimum }) => ({
    code,
    ...(caip19 === null ? {} : { caip19 }),
    decimals,
    network,
    minimum: formatAmount(minimum, decimals),
    maximum: formatAmount(maximum, decimals),
    ...(depositMinimum === undefined ? {} : { deposit_minimum: formatAmount(depositMinimum, decimals) }),
  }),
});

/** An asset on a network that is not configured could be requested but would never move. */
export function assertNetworksKnown(assets: readonly Asset[], networks: Iterable<string>): void {
  const known = new Set(networks);
  assets.forEach(({ code, network }, index) => {
    if (!known.has(network)) {
      throw new ConfigError(
        `assets[${index}].network of ${code} is ${JSON.stringify(network)}: it must be one of ${[...known].join(", ")}.`,
      );
    }
  });
}
