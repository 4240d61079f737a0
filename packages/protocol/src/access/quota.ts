import { quotaLimits } from "@bursar/domain";
import { type Static, Type } from "typebox";

/** What requests are counted as, each against a quota of its own. The names stand in `RateLimit` and in a client's `quotas`. */
export const quotaCatalog = {
  create: "Creating and changing things: transactions, wallets, approvals.",
  bulk: "Batches of transactions; each batch counts once, however many it holds.",
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
      description: "How many requests a second are allowed in the long run.",
    }),
    burst: Type.Integer({
      minimum: 1,
      maximum: quotaLimits.burstMax,
      description: "How many may come at once after a pause.",
    }),
  },
  { additionalProperties: false },
);

export const ClientQuotas = Type.Object(
  Object.fromEntries(quotaClasses.map((name) => [name, Type.Optional(ClientQuota)])) as Record<
    QuotaClass,
    ReturnType<typeof Type.Optional<typeof ClientQuota>>
  >,
  {
    additionalProperties: false,
    description: "Quotas of this client, by the class of the requests; the service's own hold for the rest.",
  },
);
export type ClientQuotas = Static<typeof ClientQuotas>;
