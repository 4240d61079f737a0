import { walletPurposes } from "../../wallet/wallet-purpose.js";
import type { Condition, UsageLimit } from "../compiled-policy.js";
import {
  addFault,
  type Field,
  readChoice,
  readInteger,
  readObject,
  readSet,
  readText,
} from "./document-field.js";
import {
  type DestinationKind,
  destinationKinds,
  policyLimits,
  requestKinds,
  usageScopes,
} from "./policy-document.js";
import {
  type PolicyReading,
  type PolicyWorld,
  readAmount,
  readAsset,
  readIds,
  readPeriodSeconds,
} from "./policy-reader.js";

const members = [
  "kind",
  "markets",
  "assets",
  "networks",
  "amount",
  "source_wallets",
  "source_purposes",
  "destinations",
  "clients",
  "hours",
  "sum",
  "count",
] as const;

interface ReadCondition {
  condition: Condition;
  limits: UsageLimit[];
}

/** Reads the `when` of a rule. The result is valid only if no fault was added. */
export function readCondition(field: Field, reading: PolicyReading): ReadCondition | undefined {
  const given = readObject(field, [], members);
  if (given === undefined) return undefined;
  const { world, references } = reading;
  const amount = readAmountRange(given.get("amount"), world);
  const sum = readSum(given.get("sum"), world);
  const count = readCount(given.get("count"), world);
  const assets = readSet(given.get("assets"), policyLimits.itemsMax, (item) => readAsset(item, world)?.code);
  const destinations = readDestinations(given.get("destinations")) ?? null;
  const kind = readChoice(given.get("kind"), requestKinds) ?? null;
  const markets =
    readSet(given.get("markets"), policyLimits.itemsMax, (item) => readMarket(item, world)) ?? null;
  refuseImpossibleKind(field, kind, markets !== null, destinations);
  const condition: Condition = {
    kind,
    markets,
    assets: narrowAssets(field, assets ?? null, [amount?.asset, sum?.asset, count?.asset]),
    networks:
      readSet(given.get("networks"), policyLimits.itemsMax, (item) => readNetwork(item, world)) ?? null,
    amountMin: amount?.min ?? null,
    amountMax: amount?.max ?? null,
    sourceWallets: readIds(given.get("source_wallets"), "wallet", references) ?? null,
    sourcePurposes:
      readSet(given.get("source_purposes"), policyLimits.itemsMax, (item) =>
        readChoice(item, walletPurposes),
      ) ?? null,
    destinations,
    clients: readIds(given.get("clients"), "client", references) ?? null,
    hours: readHours(given.get("hours"), world) ?? null,
  };
  return { condition, limits: [sum, count].filter((limit) => limit !== undefined) };
}

/** A rule with amounts in an asset applies to that asset only. With amounts in two assets it could never match. */
function narrowAssets(
  field: Field,
  listed: ReadonlySet<string> | null,
  named: readonly (string | null | undefined)[],
): ReadonlySet<string> | null {
  const codes = new Set(named.filter((code) => code !== null && code !== undefined));
  const [code] = codes;
  if (code === undefined) return listed;
  if (codes.size > 1 || (listed !== null && !listed.has(code))) {
    addFault(field, "can never match: its amounts are not in one of its assets");
  }
  return codes;
}

/** Only orders have a market, and their destination is always `market`. */
function refuseImpossibleKind(
  field: Field,
  kind: Condition["kind"],
  namesMarkets: boolean,
  destinations: Condition["destinations"],
): void {
  const isForOrders = kind === "order" || namesMarkets;
  if (kind === "transaction" && namesMarkets) addFault(field, "can never match: a transaction has no market");
  else if (isForOrders && destinations !== null && !destinations.has("market"))
    addFault(field, "can never match: the destination of an order is market");
  else if (kind === "transaction" && destinations?.size === 1 && destinations.has("market"))
    addFault(field, "can never match: only an order has the destination market");
}

function readMarket(field: Field, { markets }: PolicyWorld): string | undefined {
  const text = readText(field, policyLimits.textLengthMax);
  if (text === undefined || markets.has(text)) return text;
  return addFault(field, "is not a known market");
}

function readNetwork(field: Field, { networks }: PolicyWorld): string | undefined {
  const text = readText(field, policyLimits.textLengthMax);
  if (text === undefined || networks.has(text)) return text;
  return addFault(field, "is not a known network");
}

function readAmountRange(field: Field | undefined, world: PolicyWorld) {
  if (field === undefined) return undefined;
  const given = readObject(field, ["asset"], ["min", "max"]);
  if (given === undefined) return undefined;
  const asset = readAsset(given.get("asset"), world);
  const min = readAmount(given.get("min"), asset);
  const max = readAmount(given.get("max"), asset);
  if (!given.has("min") && !given.has("max")) addFault(field, "needs min, max or both");
  if (min !== undefined && max !== undefined && min > max) addFault(field, "has a min above its max");
  return { asset: asset?.code, min, max };
}

function readDestinations(field: Field | undefined): ReadonlySet<DestinationKind> | undefined {
  const kinds = readSet(field, policyLimits.itemsMax, (item) => readChoice(item, destinationKinds));
  return kinds?.has("address") ? new Set([...kinds, "listed_address"]) : kinds;
}

function readHours(field: Field | undefined, { timeZones }: PolicyWorld): Condition["hours"] | undefined {
  if (field === undefined) return undefined;
  const given = readObject(field, ["from", "to", "time_zone"], []);
  if (given === undefined) return undefined;
  const from = readInteger(given.get("from"), 0, 23);
  const to = readInteger(given.get("to"), 0, 24);
  const zoneField = given.get("time_zone");
  const zone = readText(zoneField, policyLimits.textLengthMax);
  const hourAt = zone === undefined ? undefined : timeZones(zone);
  if (zoneField !== undefined && zone !== undefined && hourAt === undefined) {
    addFault(zoneField, "is not a known time zone, such as Europe/Berlin");
  }
  if (from === undefined || to === undefined || hourAt === undefined) return undefined;
  if (from === to) return addFault(field, "is empty: the whole day is from 0 to 24");
  return { from, to, hourAt };
}

function readSum(field: Field | undefined, world: PolicyWorld): UsageLimit | undefined {
  const given = field && readObject(field, ["asset", "per", "period_seconds", "above"], []);
  if (given === undefined) return undefined;
  const asset = readAsset(given.get("asset"), world);
  const per = readChoice(given.get("per"), usageScopes);
  const periodSeconds = readPeriodSeconds(given.get("period_seconds"));
  const above = readAmount(given.get("above"), asset);
  if (asset === undefined || per === undefined || periodSeconds === undefined || above === undefined) {
    return undefined;
  }
  return { measure: "sum", per, asset: asset.code, periodSeconds, above };
}

function readCount(field: Field | undefined, world: PolicyWorld): UsageLimit | undefined {
  const given = field && readObject(field, ["per", "period_seconds", "above"], ["asset"]);
  if (given === undefined) return undefined;
  const asset = readAsset(given.get("asset"), world);
  const per = readChoice(given.get("per"), usageScopes);
  const periodSeconds = readPeriodSeconds(given.get("period_seconds"));
  const above = readInteger(given.get("above"), 1, policyLimits.countMax);
  if (per === undefined || periodSeconds === undefined || above === undefined) return undefined;
  return { measure: "count", per, asset: asset?.code ?? null, periodSeconds, above: BigInt(above) };
}
