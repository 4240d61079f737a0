import type { ChainChecks } from "../../runtime/readiness.js";
import type { ChainStatus } from "./chain-status.js";

export function chainChecks({ networks, signer }: ChainStatus): ChainChecks {
  return {
    signer: signer.isReady ? "up" : "down",
    networks: networks.map(({ network: { network }, recorded }) => ({
      network,
      state: recorded?.state ?? "connecting",
      unreachableSince: recorded?.unreachableSince ?? null,
    })),
  };
}
