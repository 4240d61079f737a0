import { uuidFromTypeId } from "../../id/type-id.js";
import { parseAmount } from "../../money/amount.js";
import type { Asset, AssetRegistry } from "../../money/asset.js";
import type { TimeZones } from "../hour-of-day.js";
import { addFault, type Field, readInteger, readSet, readText } from "./document-field.js";
import { policyLimits } from "./policy-document.js";

/** A wallet or client that a document names. The caller checks that it belongs to the tenant. */
export interface PolicyReference {
  kind: "wallet" | "client";
  /** Its UUID. */
  id: string;
  rule: string | null;
  field: string;
}

/** The configured assets, networks, markets and time zones that a document is checked against. */
export interface PolicyWorld {
  assets: AssetRegistry;
  networks: ReadonlySet<string>;
  /** The names of the markets. */
  markets: ReadonlySet<string>;
  timeZones: TimeZones;
}

/** The context of reading a document, and the references collected from it. */
export interface PolicyReading {
  world: PolicyWorld;
  /** Undefined for a group with faults, so that they are reported once and not again for every rule that names it. */
  groups: ReadonlyMap<string, ReadonlySet<string> | undefined>;
  references: PolicyReference[];
}

const prefixes = { wallet: "wlt", client: "cli" } as const;

/** Identifiers of one kind, as UUIDs. */
export function readIds(
  field: Field | undefined,
  kind: PolicyReference["kind"],
  references: PolicyReference[],
): ReadonlySet<string> | undefined {
  return readSet(field, policyLimits.itemsMax, (item) => {
    const text = readText(item, policyLimits.textLengthMax);
    if (text === undefined) return undefined;
    const id = uuidFromTypeId(prefixes[kind], text);
    if (id === undefined)
      return addFault(item, `must be the id of a ${kind}, which begins with ${prefixes[kind]}_`);
    references.push({ kind, id, rule: item.rule, field: item.path });
    return id;
  });
}

export function readAsset(field: Field | undefined, { assets }: PolicyWorld): Asset | undefined {
  const text = readText(field, policyLimits.textLengthMax);
  if (field === undefined || text === undefined) return undefined;
  return assets.find(text) ?? addFault(field, "is not a known asset");
}

/** An amount of an asset, in base units. It is never rounded. */
export function readAmount(field: Field | undefined, asset: Asset | undefined): bigint | undefined {
  const text = readText(field, policyLimits.amountLengthMax);
  if (field === undefined || text === undefined || asset === undefined) return undefined;
  const amount = parseAmount(text, asset.decimals);
  switch (amount) {
    case "malformed":
      return addFault(field, "must be a decimal number such as 12.50");
    case "not_positive":
      return addFault(field, "must be more than zero");
    case "too_precise":
      return addFault(field, `has more than the ${asset.decimals} decimals of ${asset.code}`);
    default:
      return amount;
  }
}

export function readPeriodSeconds(field: Field | undefined): number | undefined {
  return readInteger(field, policyLimits.periodSecondsMin, policyLimits.periodSecondsMax);
}
