import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { MarketDefinition } from "@bursar/domain";
import { showEntry } from "../../../src/config/describe-config.js";
import { marketList, sandboxMarkets } from "../../../src/config/market-list.js";

/** The sandbox's markets, with bands so wide that tests of other things can trade at any price from one tick up. */
export const wideMarkets: readonly MarketDefinition[] = sandboxMarkets.map((market) => ({
  ...market,
  priceBandBasisPoints: 1_000_000,
  slippageBasisPoints: 1_000_000,
}));

/** Writes a configuration file with markets for a process, and returns its path, for `BURSAR_CONFIG`. */
export function writeMarkets(folder: string, markets: readonly MarketDefinition[] = wideMarkets): string {
  const path = join(folder, "markets.yaml");
  const lines = markets.map((market) => `  - ${showEntry(marketList.show(market))}\n`);
  writeFileSync(path, `markets:\n${lines.join("")}`);
  return path;
}
