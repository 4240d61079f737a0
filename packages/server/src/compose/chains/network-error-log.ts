import type { Logger } from "pino";
import type { LaggingNode } from "../../rails/evm/node/lagging-nodes.js";
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

/** The name of a node is its position in `rpc_urls`: its URL is a secret. */
export function createLagReporter(log: Pick<Logger, "error">, network: string): (node: LaggingNode) => void {
  return ({ name, finalNumber, highest }) =>
    log.error(
      { network, node: name, final_block: finalNumber ?? null, highest_final_block: highest },
      "A node has not reached for a minute what another one calls final, or does not answer. It can keep payments from being completed and deposits from being credited. Restart or replace it.",
    );
}
