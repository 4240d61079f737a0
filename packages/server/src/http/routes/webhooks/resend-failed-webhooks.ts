import { countResends, ResendFailedBody, ResentDeliveries } from "@bursar/protocol";
import { itemsOfResends } from "../../../app/quotas/take-quota.js";
import type { UseCases } from "../../../app/use-cases.js";
import { originOf, unwrap } from "../../access/guard.js";
import { readIdempotencyKey } from "../../access/idempotency-key.js";
import { defineRoute } from "../../route.js";

export function resendFailedWebhooks({ resendFailed }: Pick<UseCases, "resendFailed">) {
  return defineRoute(
    {
      method: "POST",
      path: "/v1/webhook-deliveries/resend-failed",
      access: "webhooks:manage",
      operationId: "resendFailedWebhooks",
      tag: "Webhooks",
      summary: "Resend failed webhook deliveries",
      description:
        "Resends deliveries that are `exhausted` and were not resent before, of an endpoint, of a time range, or both: oldest first, up to 1000 per request.",
      body: ResendFailedBody,
      itemsOf: (body) => countResends(body as ResendFailedBody),
      idempotent: "honoured",
      success: { status: 202, schema: ResentDeliveries, description: "How many deliveries are sent again." },
      errors: ["WEBHOOK_BACKLOG_FULL", "WEBHOOK_ENDPOINT_NOT_FOUND"],
    },
    async (request, reply) => {
      const { replayed, ...answer } = unwrap(
        await resendFailed(originOf(request), request.body, readIdempotencyKey(request)),
      );
      if (replayed) reply.header("idempotent-replayed", "true");
      else request.itemsFound = itemsOfResends(answer.resent);
      reply.code(202);
      return answer;
    },
  );
}
