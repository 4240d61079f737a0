import { formatAmount } from "@bursar/domain";
import type { Network as NetworkBody } from "@bursar/protocol";
import type { NetworkStatus } from "./chain-status.js";

const gweiDecimals = 9;
const coinDecimals = 18;

export function presentNetwork({ network, recorded }: NetworkStatus): NetworkBody {
  const { finality } = network;
  return {
    id: network.network,
    object: "network",
    state: recorded?.state ?? "connecting",
    halted_reason: recorded?.haltedReason ?? null,
    halted_at: recorded?.haltedAt?.toISOString() ?? null,
    unreachable_since: recorded?.unreachableSince?.toISOString() ?? null,
    stalled_since: recorded?.stalledSince?.toISOString() ?? null,
    stalled_reason: recorded?.stalledReason ?? null,
    head_block: recorded?.headNumber ?? null,
    final_block: recorded?.finalNumber ?? null,
    settled_block: recorded?.settledNumber ?? null,
    base_fee_gwei: recorded?.baseFee == null ? null : formatAmount(recorded.baseFee, gweiDecimals),
    fee_cap_gwei: formatAmount(network.feeCap, gweiDecimals),
    fee_max: formatAmount(network.feeMax, coinDecimals),
    finality: "tag" in finality ? finality.tag : `${finality.depth} blocks`,
    coin: network.coin,
    assets: [network.coin, ...network.tokens.map(({ asset }) => asset)],
    seen_at: recorded?.seenAt?.toISOString() ?? null,
  };
}
