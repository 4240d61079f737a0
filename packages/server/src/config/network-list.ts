import { formatAmount } from "@bursar/domain";
import { list } from "./list-setting.js";
import { integer, matching, oneOf, secretUrls } from "./setting.js";

/** A chain, as the configuration describes it. Its coin and its tokens are assets. */
export interface NetworkDefinition {
  network: string;
  rpcUrls: readonly string[];
  finality: { tag: "finalized" | "safe" } | { depth: number };
  /** In wei for each unit of gas. */
  feeCap: bigint;
  /** For one payment, in wei. */
  feeMax: bigint;
  minimumTip: bigint;
  /** Of the first attempt of a payment. */
  tipMax: bigint;
  inFlightMax: number;
  hasDataFee: boolean;
  hasPool: boolean;
}

const gweiDecimals = 9;
const gweiPattern = /^(0|[1-9][0-9]{0,8})(\.[0-9]{1,9})?$/;
const gwei = "a decimal number of gwei with at most 9 decimals";
const coinDecimals = 18;
const coinPattern = /^(0|[1-9][0-9]{0,8})(\.[0-9]{1,18})?$/;
const chainIdMax = 2n ** 48n;

const exampleTexts = [
  {
    network: "eip155:1",
    rpc_urls: "https://rpc-one.example/v2/key,https://rpc-two.example/key",
    finality: "finalized",
    fee_cap_gwei: "200",
    minimum_tip_gwei: "1",
  },
] as const;

export const networkList = list({
  about:
    "The EVM chains on which wallets can be created. Each needs an asset for its coin, with the CAIP-19 identifier `eip155:N/slip44:60`, and can have tokens, `eip155:N/erc20:0x…`. The chain id, the genesis block, the finality and the decimals of the tokens are compared with the chain at every start. Without this list there are none, except in the sandbox, which has a development chain.",
  default: [],
  exampleTexts,
  entriesMax: 20,
  fields: {
    network: matching(
      { about: "Its CAIP-2 identifier. The name of the network in assets, wallets and policies." },
      /^eip155:[1-9][0-9]{0,14}$/,
      "the CAIP-2 identifier of an EVM chain, such as eip155:1",
    ),
    rpc_urls: secretUrls(
      {
        about:
          "The URLs of its nodes (JSON-RPC over HTTP). With two or more, from different operators, the network halts if two disagree about a final block, and goes on if more than half of three or more agree.",
      },
      8,
    ),
    finality: matching(
      {
        about:
          "When a block counts as final: when the node's tag `finalized` or `safe` has reached it, or a number of blocks are on top of it.",
        default: "finalized",
      },
      /^(finalized|safe|[1-9][0-9]{0,3})$/,
      "finalized, safe or a number of blocks from 1 to 9999",
    ),
    fee_cap_gwei: matching(
      { about: "The maximum fee for each unit of gas that a payment may offer, in gwei.", default: "500" },
      gweiPattern,
      gwei,
    ),
    fee_max: matching(
      {
        about:
          "The maximum fee of one payment, in the coin: its gas limit times its fee, and the fee for data. A payment that needs more fails with `FEE_TOO_HIGH` before it is sent, and is not replaced by one that offers more. It should not be above the limit of the signer, which is 0.1 unless `bursar-signer` was started with another.",
        default: "0.05",
      },
      coinPattern,
      "a decimal number of coins with at most 18 decimals",
    ),
    minimum_tip_gwei: matching(
      { about: "The minimum priority fee that a payment offers, in gwei.", default: "0.01" },
      gweiPattern,
      gwei,
    ),
    tip_max_gwei: matching(
      {
        about:
          "The maximum priority fee that the first attempt of a payment offers, in gwei, whatever its nodes say that others pay. One that is not included is replaced with higher fees, up to `fee_cap_gwei`.",
        default: "20",
      },
      gweiPattern,
      gwei,
    ),
    in_flight: integer(
      {
        about: "The maximum number of payments of an address that have a nonce and are in no block yet.",
        default: 16,
      },
      { min: 1, max: 256 },
    ),
    data_fee: oneOf(
      {
        about: "Whether the chain charges for the data of a transaction in addition to gas (OP stack).",
        default: "false",
      },
      ["false", "true"],
    ),
    no_pool: oneOf(
      {
        about:
          "Whether its nodes refuse a transaction that is not the next one of its sender, so that the payments of an address are sent one after the other.",
        default: "false",
      },
      ["false", "true"],
    ),
  },
  make: (fields) => {
    if (BigInt(fields.network.slice("eip155:".length)) > chainIdMax)
      return { field: "network", allowed: `a chain id of at most ${chainIdMax}` };
    const feeCap = readDecimal(fields.fee_cap_gwei, gweiDecimals);
    const feeMax = readDecimal(fields.fee_max, coinDecimals);
    const minimumTip = readDecimal(fields.minimum_tip_gwei, gweiDecimals);
    const tipMax = readDecimal(fields.tip_max_gwei, gweiDecimals);
    if (feeCap === 0n) return { field: "fee_cap_gwei", allowed: "greater than zero" };
    if (feeMax === 0n) return { field: "fee_max", allowed: "greater than zero" };
    if (minimumTip > feeCap)
      return { field: "minimum_tip_gwei", allowed: `at most the fee cap, ${fields.fee_cap_gwei}` };
    if (minimumTip > tipMax)
      return { field: "minimum_tip_gwei", allowed: `at most tip_max_gwei, ${fields.tip_max_gwei}` };
    return {
      network: fields.network,
      rpcUrls: fields.rpc_urls.split(","),
      finality: readFinality(fields.finality),
      feeCap,
      feeMax,
      minimumTip,
      tipMax,
      inFlightMax: fields.in_flight,
      hasDataFee: fields.data_fee === "true",
      hasPool: fields.no_pool === "false",
    } satisfies NetworkDefinition as NetworkDefinition;
  },
  namesOf: ({ network }) => ({ network }),
  show: ({ network, finality, feeCap, feeMax, minimumTip, tipMax, inFlightMax, hasDataFee, hasPool }) => ({
    network,
    rpc_urls: "********",
    finality: "tag" in finality ? finality.tag : String(finality.depth),
    fee_cap_gwei: formatAmount(feeCap, gweiDecimals),
    fee_max: formatAmount(feeMax, coinDecimals),
    minimum_tip_gwei: formatAmount(minimumTip, gweiDecimals),
    tip_max_gwei: formatAmount(tipMax, gweiDecimals),
    in_flight: inFlightMax,
    data_fee: String(hasDataFee),
    no_pool: String(!hasPool),
  }),
});

function readFinality(text: string): NetworkDefinition["finality"] {
  return text === "finalized" || text === "safe" ? { tag: text } : { depth: Number(text) };
}

function readDecimal(text: string, decimals: number): bigint {
  const [whole = "", fraction = ""] = text.split(".");
  return BigInt(whole + fraction.padEnd(decimals, "0"));
}
