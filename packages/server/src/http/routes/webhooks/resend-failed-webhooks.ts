import { ResendFailedBody, ResentDeliveries } from "@bursar/protocol";
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
      summary: "Send all failed webhook deliveries again",
      description:
        "Those that are `exhausted` and were not sent again before, of an endpoint, of a time range, or of both: the oldest first, up to 10,000 a request.",
      body: ResendFailedBody,
      idempotent: "honoured",
      success: { status: 202, schema: ResentDeliveries },
      errors: ["WEBHOOK_ENDPOINT_NOT_FOUND"],
    },
    async (request, reply) => {
      const { replayed, ...answer } = unwrap(
        await resendFailed(originOf(request), request.body, readIdempotencyKey(request)),
      );
      if (replayed) reply.header("idempotent-replayed", "true");
      reply.code(202);
      return answer;
    },
  );
}
