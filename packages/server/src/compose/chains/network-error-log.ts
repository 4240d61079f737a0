import type { Logger } from "pino";
import type { NetworkErrorLog } from "../../rails/evm/report-network-errors.js";

export function createNetworkErrorLog(log: Logger, network: string): NetworkErrorLog {
  return {
    unavailable: (reason) =>
      log.warn({ reason, network }, "A network cannot be followed now. It is retried."),
    disputed: (reason) =>
      log.error(
        { reason, network },
        "Nodes of a network contradict each other, and payments wait. Find out which of them is wrong.",
      ),
    failed: (error) => log.error({ err: error, network }, "A network could not be followed. It is retried."),
  };
}
