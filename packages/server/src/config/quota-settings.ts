import { quotaLimits } from "@bursar/domain";
import { integer, type Setting } from "./setting.js";

const perSecond = (about: string, value: number): Setting<number> =>
  integer({ default: value, about }, { min: 1, max: quotaLimits.perSecondMax });
const burst = (about: string, value: number): Setting<number> =>
  integer({ default: value, about }, { min: 1, max: quotaLimits.burstMax });

/** The default quotas of a client, by class of request, and the quota of an address for unauthenticated requests. */
export const quotaSettings = {
  "quotas.create_per_second": perSecond(
    "Requests a second of one client that create or change something.",
    1000,
  ),
  "quotas.create_burst": burst("The burst of such requests after a pause.", 2000),
  "quotas.bulk_per_second": perSecond(
    "Tokens a second for batches of transactions. A batch of 1000 small transactions costs about 115.",
    500,
  ),
  "quotas.bulk_burst": burst("The burst of such tokens.", 2000),
  "quotas.read_per_second": perSecond("Requests a second that read.", 1000),
  "quotas.read_burst": burst("The burst of reads.", 2000),
  "quotas.manage_per_second": perSecond(
    "Requests a second that manage clients or policy, or read the audit log.",
    100,
  ),
  "quotas.manage_burst": burst("The burst of such requests.", 500),
  "quotas.stream_per_second": perSecond("Streams opened a second.", 50),
  "quotas.stream_burst": burst("The burst of streams opened.", 500),
  "quotas.auth_per_second": perSecond("Requests a second for tokens, by authenticated clients.", 50),
  "quotas.auth_burst": burst("The burst of such requests.", 500),
  "quotas.tenant_multiple": integer(
    {
      default: 2,
      about:
        "The quota that all clients of a tenant share, in each class, as a multiple of the default quota of a client. It is larger if a client has a larger quota of its own.",
    },
    { min: 1, max: 1000 },
  ),
  "quotas.address_per_second": perSecond(
    "Failed requests a second of one address to `/oauth`, and requests without a valid token anywhere. An IPv6 /64 network counts as one address, and each process counts on its own.",
    100,
  ),
  "quotas.address_burst": burst("The burst of such requests.", 1000),
};
