import {
  type AssetRegistry,
  createMarketRegistry,
  type MarketDefinition,
  type MarketRegistry,
} from "@bursar/domain";
import { ConfigError } from "./config-error.js";
import { marketList } from "./market-list.js";

/** The markets that the configuration names. Those of the default are only there where their assets are. */
export function readMarkets(definitions: readonly MarketDefinition[], assets: AssetRegistry): MarketRegistry {
  const isWanted = ({ base, quote }: MarketDefinition) =>
    definitions !== marketList.default || [base, quote].every((code) => assets.find(code) !== undefined);
  const wanted = definitions.filter(isWanted);
  const made = createMarketRegistry(wanted, assets);
  if (!("allowed" in made)) return made;
  const { index, field, allowed } = made;
  const { [field]: written } = marketList.show(wanted[index] as MarketDefinition);
  throw new ConfigError(`markets[${index}].${field} is ${JSON.stringify(written)}: it must be ${allowed}.`);
}
