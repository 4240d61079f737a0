import type { Logger } from "pino";
import { NodeUnavailableError } from "../../app/chain/chain-node.js";
import { ConfigError } from "../../config/setting.js";
import { OperatorError } from "../../operator-error.js";
import type { EvmNode } from "../../rails/evm/node/evm-node.js";
import type { Timers } from "../../runtime/loops/timers.js";
import { readPosition } from "../../store/chain/chain-blocks.js";
import type { Database } from "../../store/core/database.js";

interface NodeProbes {
  /** Throws a `ConfigError` if the nodes are not those of the configured network. */
  probe: (node: Pick<EvmNode, "network" | "probe">) => Promise<void>;
  stop: () => void;
}

/** How long until nodes that are wrong, or have not answered, are asked again. */
const repeatAfterMs = 60_000;

/**
 * A wrong configuration would pay on another chain than meant, so it ends the start. Single nodes that are wrong, behind or silent do not, while the
 * others can be right: they are in the log, and all are asked again until nothing is wrong.
 */
export function createNodeProbes(
  database: Database,
  log: Pick<Logger, "warn" | "error">,
  timers: Pick<Timers, "after">,
): NodeProbes {
  const cancels = new Map<string, () => void>();
  const reported = new Map<string, readonly string[]>();

  async function look({ network, probe }: Pick<EvmNode, "network" | "probe">): Promise<readonly string[]> {
    const known = (await readPosition(database, network))?.genesisHash;
    const sentences = await probe(known);
    for (const reason of sentences)
      if (reported.get(network)?.includes(reason) !== true)
        log.warn(
          { network, reason },
          "A node is not as its network is configured, or does not answer. It is asked again each minute.",
        );
    reported.set(network, sentences);
    return sentences;
  }

  function repeat(node: Pick<EvmNode, "network" | "probe">): void {
    const { network } = node;
    const again = async () => {
      try {
        if ((await look(node)).length === 0) return;
      } catch (error) {
        if (error instanceof OperatorError)
          log.error({ network, reason: error.message }, "A network is not as it is configured.");
      }
      if (cancels.has(network)) repeat(node);
    };
    cancels.set(
      network,
      timers.after(repeatAfterMs, () => void again()),
    );
  }

  return {
    probe: async (node) => {
      try {
        if ((await look(node)).length > 0) repeat(node);
      } catch (error) {
        if (error instanceof OperatorError) throw new ConfigError(error.message, { cause: error });
        if (!(error instanceof NodeUnavailableError)) throw error;
        repeat(node);
        log.warn(
          { network: node.network, reason: error.message },
          "No node of a network answers. The service starts without it, and tries again.",
        );
      }
    },
    stop: () => {
      for (const cancel of cancels.values()) cancel();
      cancels.clear();
    },
  };
}
