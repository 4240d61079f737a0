import type { Logger } from "pino";
import type { LaggingNode } from "../../rails/evm/node/watch/lagging-nodes.js";
import type { OddNode } from "../../rails/evm/node/watch/odd-nodes.js";
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
      "A node has not reached for a minute what others call final, or does not answer. If no two others do, no payment is completed and no deposit credited. Restart or replace it.",
    );
}

export function createOddReporter(log: Pick<Logger, "error">, network: string): (node: OddNode) => void {
  return ({ name, reason }) =>
    log.error(
      { network, node: name, reason },
      "A node contradicts the others, which go on without it. Find out why, or replace it.",
    );
}
