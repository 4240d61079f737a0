import { type Static, Type } from "typebox";
import { Period, PeriodRange } from "../resources/overview.js";
import { OneOf, Timestamp } from "../values.js";
import { quotaClasses } from "./quota.js";

const UsagePoint = Type.Object(
  {
    start: Timestamp("When the period begins, in UTC."),
    requests: Type.Integer(),
    refused: Type.Integer({ description: "Answered with a status of 4xx other than 429." }),
    rate_limited: Type.Integer({ description: "Answered with 429." }),
    failed: Type.Integer({ description: "Answered with a status of 5xx." }),
    cost: Type.Integer({ description: "The tokens of its quotas that they have cost." }),
  },
  { $id: "UsagePoint" },
);

export const ClientUsage = Type.Object(
  {
    object: Type.Literal("client_usage"),
    client_id: Type.String(),
    period: OneOf(["hour", "day"]),
    data: Type.Array(UsagePoint, {
      maxItems: 400,
      description: "Oldest first; the newest 400 of the given time. A period without requests is left out.",
    }),
    quotas: Type.Array(
      Type.Object({
        class: OneOf(quotaClasses),
        per_second: Type.Integer({ description: "The tokens gained each second." }),
        burst: Type.Integer({ description: "The tokens that can be used at once after a pause." }),
        remaining: Type.Integer({
          description:
            "The tokens that are left, without those that processes have reserved for this client.",
        }),
      }),
      { maxItems: quotaClasses.length },
    ),
  },
  { $id: "ClientUsage" },
);
export type ClientUsage = Static<typeof ClientUsage>;

export const ClientUsageQuery = Type.Object(
  { period: Type.Optional(Period), ...PeriodRange },
  { additionalProperties: false },
);
