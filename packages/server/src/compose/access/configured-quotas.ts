import type { Quota } from "@bursar/domain";
import { type QuotaClass, quotaClasses } from "@bursar/protocol";
import type { Quotas } from "../../app/quotas/client-quotas.js";
import type { Settings } from "../../config/settings.js";

export function addressQuotaOf(settings: Settings): Quota {
  return { perSecond: settings["quotas.address_per_second"], burst: settings["quotas.address_burst"] };
}

/** The console is 25 tokens for a new browser, so a hundred of one address load it at once by default. */
export function fileQuotaOf({ perSecond, burst }: Quota): Quota {
  return { perSecond: 10 * perSecond, burst: 10 * burst };
}

/** The quotas of every client that has none of its own. */
export function defaultQuotasOf(settings: Settings): Quotas {
  return Object.fromEntries(
    quotaClasses.map((name) => [
      name,
      { perSecond: settings[`quotas.${name}_per_second`], burst: settings[`quotas.${name}_burst`] },
    ]),
  ) as Record<QuotaClass, Quota>;
}

export function multiply(quotas: Quotas, factor: number): Quotas {
  return Object.fromEntries(
    Object.entries(quotas).map(([name, { perSecond, burst }]) => [
      name,
      { perSecond: perSecond * factor, burst: burst * factor },
    ]),
  ) as Record<QuotaClass, Quota>;
}
