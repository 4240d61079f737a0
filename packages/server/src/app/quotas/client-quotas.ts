import type { Quota } from "@bursar/domain";
import { type QuotaClass, quotaClasses, type ClientQuotas as WireQuotas } from "@bursar/protocol";

/** Quotas for every class: the service's defaults. */
export type Quotas = Readonly<Record<QuotaClass, Quota>>;

/** The quotas of one client that differ from the defaults. */
export type ClientQuotas = Readonly<Partial<Quotas>>;

export function readClientQuotas(wire: WireQuotas): ClientQuotas {
  return mapClasses((name) => {
    const quota = wire[name];
    return quota && { perSecond: quota.per_second, burst: quota.burst };
  });
}

export function showClientQuotas(quotas: ClientQuotas): WireQuotas {
  return mapClasses((name) => {
    const quota = quotas[name];
    return quota && { per_second: quota.perSecond, burst: quota.burst };
  });
}

/** The classes whose wanted quota is larger than both the default and the caller's own. */
export function findBeyond(wanted: ClientQuotas, own: ClientQuotas, defaults: Quotas): QuotaClass[] {
  return quotaClasses.filter((name) => {
    const quota = wanted[name];
    if (quota === undefined) return false;
    const most = [defaults[name], own[name] ?? defaults[name]];
    return (
      quota.perSecond > Math.max(...most.map(({ perSecond }) => perSecond)) ||
      quota.burst > Math.max(...most.map(({ burst }) => burst))
    );
  });
}

function mapClasses<T>(make: (name: QuotaClass) => T | undefined): Partial<Record<QuotaClass, T>> {
  const made: Partial<Record<QuotaClass, T>> = {};
  for (const name of quotaClasses) {
    const value = make(name);
    if (value !== undefined) made[name] = value;
  }
  return made;
}
