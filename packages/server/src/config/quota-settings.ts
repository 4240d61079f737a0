import { quotaLimits } from "@bursar/domain";
import { integer, type Setting } from "./setting.js";

const perSecond = (about: string, value: number): Setting<number> =>
  integer({ default: value, about }, { min: 1, max: quotaLimits.perSecondMax });
const burst = (about: string, value: number): Setting<number> =>
  integer({ default: value, about }, { min: 1, max: quotaLimits.burstMax });

/** How much a client may ask for, by the class of its requests, and how much an address without a good token. */
export const quotaSettings = {
  "quotas.create_per_second": perSecond(
    "How many requests a second a client may send that create or change something.",
    1000,
  ),
  "quotas.create_burst": burst("How many of them may come at once after a pause.", 2000),
  "quotas.bulk_per_second": perSecond("How many batches of transactions a second.", 20),
  "quotas.bulk_burst": burst("How many batches at once.", 40),
  "quotas.read_per_second": perSecond("How many requests a second that read.", 1000),
  "quotas.read_burst": burst("How many of them at once.", 2000),
  "quotas.manage_per_second": perSecond(
    "How many requests a second that manage clients or policy, or read the audit log.",
    100,
  ),
  "quotas.manage_burst": burst("How many of them at once.", 500),
  "quotas.stream_per_second": perSecond("How many streams a second may be opened.", 50),
  "quotas.stream_burst": burst("How many streams may be opened at once.", 500),
  "quotas.auth_per_second": perSecond(
    "How many requests a second for tokens, by clients that have proven themselves.",
    50,
  ),
  "quotas.auth_burst": burst("How many of them at once.", 500),
  "quotas.address_per_second": perSecond(
    "How many requests a second one address may send to `/oauth`, or anywhere without a good token; an IPv6 network of 64 bits counts as one address, and each process counts on its own.",
    100,
  ),
  "quotas.address_burst": burst("How many of them at once.", 1000),
};
