import type { Condition, UsageLimit } from "./compiled-policy.js";
import type { HourOfDay } from "./hour-of-day.js";

/**
 * The set of requests that a rule matches, as a conjunction. It can be intersected with another, and compared: `isWithin` is a proof, its
 * negation is not. A missing or null member matches everything.
 */
export type Region = { [Name in keyof Condition]?: Name extends "hours" ? never : Condition[Name] } & {
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

export function regionOf({ hours, ...members }: Condition, limits: readonly UsageLimit[]): Region {
  const hoursOf = hours === null ? [] : [{ hourAt: hours.hourAt, mask: maskOf(hours) }];
  return { ...members, hoursOf, limits };
}

/** The requests that both match; undefined if there is certainly none. */
export function intersect(one: Region, other: Region): Region | undefined {
  const both: Region = {
    ...one,
    amountMin: larger(one.amountMin, other.amountMin),
    amountMax: smaller(one.amountMax, other.amountMax),
    hoursOf: [...(one.hoursOf ?? []), ...(other.hoursOf ?? [])],
    limits: [...(one.limits ?? []), ...(other.limits ?? [])],
  };
  for (const name of setNames) {
    const [a, b] = [one[name] ?? null, other[name] ?? null];
    const shared = a === null ? b : b === null ? a : new Set([...a].filter((item) => b.has(item)));
    if (shared?.size === 0) return undefined;
    both[name] = shared;
  }
  for (const name of valueNames) {
    const [a, b] = [one[name] ?? null, other[name] ?? null];
    if (a !== null && b !== null && a !== b) return undefined;
    both[name] = a ?? b;
  }
  const { amountMin: min, amountMax: max } = both;
  if (min != null && max != null && min > max) return undefined;
  return hasNoHour(both.hoursOf ?? []) ? undefined : both;
}

/** Whether every request of the first is certainly one of the second. */
export function isWithin(inner: Region, outer: Region): boolean {
  for (const name of setNames) {
    const [a, b] = [inner[name] ?? null, outer[name] ?? null];
    if (b === null) continue;
    if (a === null || a.size > b.size) return false;
    for (const item of a) if (!b.has(item)) return false;
  }
  for (const name of valueNames) {
    const wanted = outer[name] ?? null;
    if (wanted !== null && inner[name] !== wanted) return false;
  }
  const { amountMin: min, amountMax: max, hoursOf = [], limits = [] } = outer;
  if (min != null && (inner.amountMin == null || inner.amountMin < min)) return false;
  if (max != null && (inner.amountMax == null || inner.amountMax > max)) return false;
  const hasHours = hoursOf.every(({ hourAt, mask }) =>
    (inner.hoursOf ?? []).some((own) => own.hourAt === hourAt && (own.mask & ~mask) === 0),
  );
  return hasHours && limits.every((limit) => (inner.limits ?? []).some((own) => implies(own, limit)));
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

function hasNoHour(hoursOf: NonNullable<Region["hoursOf"]>): boolean {
  const masks = new Map<HourOfDay, number>();
  for (const { hourAt, mask } of hoursOf) masks.set(hourAt, (masks.get(hourAt) ?? -1) & mask);
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
