import type { Quota } from "@bursar/domain";
import { type QuotaClass, quotaClasses } from "@bursar/protocol";
import type { Quotas } from "../app/quotas/client-quotas.js";
import type { Settings } from "../config/settings.js";

export function quotaOfAddress(settings: Settings): Quota {
  return { perSecond: settings["quotas.address_per_second"], burst: settings["quotas.address_burst"] };
}

/** The quotas that hold for every client that has none of its own. */
export function quotasOf(settings: Settings): Quotas {
  return Object.fromEntries(
    quotaClasses.map((name) => [
      name,
      { perSecond: settings[`quotas.${name}_per_second`], burst: settings[`quotas.${name}_burst`] },
    ]),
  ) as Record<QuotaClass, Quota>;
}
