import type { Asset } from "@bursar/domain";
import { ConfigError } from "./config-error.js";

/** An asset on a network that the service cannot drive could be asked for and would never move. */
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
