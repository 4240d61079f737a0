import { NodesDisagreeError, NodeUnavailableError } from "../../app/chain/chain-node.js";
import { SignerUnavailableError } from "../../app/chain/signer.js";

const repeatEveryMs = 60_000;

export interface NetworkErrorLog {
  /** A node or the signer does not answer. */
  unavailable: (reason: string) => void;
  /** Nodes contradict each other. */
  disputed: (reason: string) => void;
  failed: (error: unknown) => void;
}

/**
 * A driver tries again each second, so a node or signer that does not answer, or a dispute of nodes, is reported once, when the reason changes, and each minute. Any
 * other error is reported each time.
 */
export function createNetworkErrorReporter(
  log: NetworkErrorLog,
  monotonicMs: () => number,
): (error: unknown) => void {
  let reported = "";
  let reportedAtMs = Number.NEGATIVE_INFINITY;
  return (error) => {
    if (!(error instanceof NodeUnavailableError || error instanceof SignerUnavailableError)) {
      log.failed(error);
      return;
    }
    const atMs = monotonicMs();
    if (error.message === reported && atMs - reportedAtMs < repeatEveryMs) return;
    reported = error.message;
    reportedAtMs = atMs;
    if (error instanceof NodesDisagreeError) log.disputed(reported);
    else log.unavailable(reported);
  };
}
