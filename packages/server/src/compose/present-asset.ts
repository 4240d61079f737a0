import { type Asset, formatAmount } from "@bursar/domain";

export function presentAsset({ code, caip19, decimals, network, minimum, maximum }: Asset) {
  return {
    code,
    caip19,
    decimals,
    network,
    minimum: formatAmount(minimum, decimals),
    maximum: formatAmount(maximum, decimals),
  };
}
