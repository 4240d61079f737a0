import type { Condition, UsageLimit } from "../compiled-policy.js";
import type { HourOfDay } from "../hour-of-day.js";

/**
 * The set of requests that a rule matches, as a conjunction. It can be intersected with another, and compared: `isWithin` is a proof, its
 * negation is not. A missing or null member matches everything.
 */
export type Region = Partial<Omit<Condition, "hours">> & {
  /** All must match. Hours of different time zones cannot be compared. */
  hoursOf?: readonly { hourAt: HourOfDay; mask: number }[];
  /** All must be exceeded. */
  limits?: readonly UsageLimit[];
};

/** Complete, so that a condition that is added to rules cannot be forgotten here. */
const memberKinds = {
  kind: "value",
  markets: "set",
  assets: "set",
  networks: "set",
  amountMin: "min",
  amountMax: "max",
  sourceWallets: "set",
  sourcePurposes: "set",
  destinations: "set",
  clients: "set",
  hours: "hours",
} as const satisfies Record<keyof Condition, "set" | "value" | "min" | "max" | "hours">;
const namesOf = <Kind extends string>(kind: Kind) =>
  Object.entries(memberKinds).flatMap(([name, one]) => (one === kind ? [name] : [])) as (keyof Condition)[];
const setNames = namesOf("set") as ("markets" | "assets")[];
const valueNames = namesOf("value") as "kind"[];

/** All members in one order, so that all regions have one hidden class, which makes comparing faster. */
export function regionOf({ hours, ...members }: Condition, limits: readonly UsageLimit[]): Region {
  return {
    kind: members.kind,
    markets: members.markets,
    assets: members.assets,
    networks: members.networks,
    amountMin: members.amountMin,
    amountMax: members.amountMax,
    sourceWallets: members.sourceWallets,
    sourcePurposes: members.sourcePurposes,
    destinations: members.destinations,
    clients: members.clients,
    hoursOf: hours === null ? [] : [{ hourAt: hours.hourAt, mask: maskOf(hours) }],
    limits,
  } satisfies Required<Region>;
}

/** The requests that both match; undefined if there is certainly none. */
export function intersect(one: Region, other: Region): Region | undefined {
  if (areDisjoint(one, other)) return undefined;
  return {
    kind: one.kind ?? other.kind ?? null,
    markets: shared(one.markets, other.markets),
    assets: shared(one.assets, other.assets),
    networks: shared(one.networks, other.networks),
    amountMin: larger(one.amountMin, other.amountMin),
    amountMax: smaller(one.amountMax, other.amountMax),
    sourceWallets: shared(one.sourceWallets, other.sourceWallets),
    sourcePurposes: shared(one.sourcePurposes, other.sourcePurposes),
    destinations: shared(one.destinations, other.destinations),
    clients: shared(one.clients, other.clients),
    hoursOf: joined(one.hoursOf, other.hoursOf),
    limits: joined(one.limits, other.limits),
  } satisfies Required<Region>;
}

function shared<Item>(
  one: ReadonlySet<Item> | null | undefined,
  other: ReadonlySet<Item> | null | undefined,
): ReadonlySet<Item> | null {
  if (one == null || other == null) return one ?? other ?? null;
  return new Set([...one].filter((item) => other.has(item)));
}

function joined<Item>(one: readonly Item[] = [], other: readonly Item[] = []): readonly Item[] {
  return one.length === 0 ? other : other.length === 0 ? one : [...one, ...other];
}

/** Whether there is certainly no request that both match. It allocates little, because most pairs of rules are compared only here. */
function areDisjoint(one: Region, other: Region): boolean {
  const min = larger(one.amountMin, other.amountMin);
  const max = smaller(one.amountMax, other.amountMax);
  if (min !== null && max !== null && min > max) return true;
  for (const name of valueNames) {
    const [a, b] = [one[name] ?? null, other[name] ?? null];
    if (a !== null && b !== null && a !== b) return true;
  }
  for (const name of setNames) {
    const [a, b] = [one[name] ?? null, other[name] ?? null];
    if (a !== null && b !== null && sharesNothing(a, b)) return true;
  }
  return hasNoHour(one.hoursOf ?? [], other.hoursOf ?? []);
}

function sharesNothing(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  for (const item of one) if (other.has(item)) return false;
  return true;
}

/** Whether every request of the first is certainly one of the second. */
export function isWithin(inner: Region, outer: Region): boolean {
  const { amountMin: min, amountMax: max, hoursOf = [], limits = [] } = outer;
  if (min != null && (inner.amountMin == null || inner.amountMin < min)) return false;
  if (max != null && (inner.amountMax == null || inner.amountMax > max)) return false;
  for (const name of valueNames) {
    const wanted = outer[name] ?? null;
    if (wanted !== null && inner[name] !== wanted) return false;
  }
  for (const name of setNames) {
    const b = outer[name] ?? null;
    if (b === null) continue;
    const a = inner[name] ?? null;
    if (a === null || a.size > b.size) return false;
    for (const item of a) if (!b.has(item)) return false;
  }
  for (const { hourAt, mask } of hoursOf) {
    const isImplied = (inner.hoursOf ?? []).some((own) => own.hourAt === hourAt && (own.mask & ~mask) === 0);
    if (!isImplied) return false;
  }
  return limits.every((limit) => (inner.limits ?? []).some((own) => implies(own, limit)));
}

/** The number of items that comparing this region looks at, at most. */
export function sizeOf(region: Region): number {
  const ofSets = setNames.reduce((sum, name) => sum + (region[name]?.size ?? 0), 0);
  return 1 + ofSets + (region.hoursOf?.length ?? 0) + (region.limits?.length ?? 0);
}

/** Whether exceeding one limit is exceeding the other: the same window, and not a lower limit. */
function implies(one: UsageLimit, other: UsageLimit): boolean {
  return (
    one.measure === other.measure &&
    one.per === other.per &&
    one.asset === other.asset &&
    one.periodSeconds === other.periodSeconds &&
    one.above >= other.above
  );
}

/** The hours of the day as bits. */
function maskOf({ from, to }: { from: number; to: number }): number {
  let mask = 0;
  for (let hour = 0; hour < 24; hour++) {
    const isWithinHours = from < to ? hour >= from && hour < to : hour >= from || hour < to;
    if (isWithinHours) mask |= 1 << hour;
  }
  return mask;
}

function hasNoHour(one: NonNullable<Region["hoursOf"]>, other: NonNullable<Region["hoursOf"]>): boolean {
  if (one.length + other.length === 0) return false;
  const masks = new Map<HourOfDay, number>();
  for (const { hourAt, mask } of one) masks.set(hourAt, (masks.get(hourAt) ?? -1) & mask);
  for (const { hourAt, mask } of other) masks.set(hourAt, (masks.get(hourAt) ?? -1) & mask);
  return [...masks.values()].includes(0);
}

function larger(one: bigint | null | undefined, other: bigint | null | undefined): bigint | null {
  if (one == null || other == null) return one ?? other ?? null;
  return one > other ? one : other;
}

function smaller(one: bigint | null | undefined, other: bigint | null | undefined): bigint | null {
  if (one == null || other == null) return one ?? other ?? null;
  return one < other ? one : other;
}
