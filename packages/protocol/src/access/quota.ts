import { quotaLimits } from "@bursar/domain";
import { type Static, Type } from "typebox";

/** The classes of requests, each with its own quota. The names appear in `RateLimit` and in a client's `quotas`. */
export const quotaCatalog = {
  create: "Creating and changing transactions, wallets, orders and approvals.",
  bulk: "Batches of transactions.",
  read: "Reading.",
  manage: "Managing clients and policy, and reading the audit log.",
  stream: "Opening streams.",
  auth: "Getting, revoking and introspecting tokens.",
} as const satisfies Record<string, string>;

export type QuotaClass = keyof typeof quotaCatalog;

export const quotaClasses = Object.keys(quotaCatalog) as QuotaClass[];

const ClientQuota = Type.Object(
  {
    per_second: Type.Integer({
      minimum: 1,
      maximum: quotaLimits.perSecondMax,
      description: "The tokens gained each second. A small request costs one.",
    }),
    burst: Type.Integer({
      minimum: 1,
      maximum: quotaLimits.burstMax,
      description: "The tokens that can be used at once after a pause.",
    }),
  },
  { $id: "ClientQuota", additionalProperties: false },
);

export const ClientQuotas = Type.Object(
  Object.fromEntries(quotaClasses.map((name) => [name, Type.Optional(ClientQuota)])) as Record<
    QuotaClass,
    ReturnType<typeof Type.Optional<typeof ClientQuota>>
  >,
  {
    $id: "ClientQuotas",
    additionalProperties: false,
    description: "The quotas of this client by class of request. The service's defaults apply to the others.",
  },
);
export type ClientQuotas = Static<typeof ClientQuotas>;
