import { ReplayBody, ReplayedEvents } from "@bursar/protocol";
import type { UseCases } from "../../../app/use-cases.js";
import { originOf, unwrap } from "../../access/guard.js";
import { readIdempotencyKey } from "../../access/idempotency-key.js";
import { defineRoute } from "../../route.js";

export function replayWebhooks({ replayEvents }: Pick<UseCases, "replayEvents">) {
  return defineRoute(
    {
      method: "POST",
      path: "/v1/webhook-deliveries/replay",
      access: "webhooks:manage",
      operationId: "replayWebhooks",
      tag: "Webhooks",
      summary: "Send everything again from a sequence on",
      description:
        "Sends the events of the log to an endpoint, as new deliveries in the order of the log, as far as it wants events of their kind. A request looks at up to 10,000 events and says where to go on.",
      body: ReplayBody,
      idempotent: "honoured",
      success: { status: 202, schema: ReplayedEvents },
      errors: ["WEBHOOK_ENDPOINT_NOT_FOUND"],
    },
    async (request, reply) => {
      const { replayed, ...answer } = unwrap(
        await replayEvents(originOf(request), request.body, readIdempotencyKey(request)),
      );
      if (replayed) reply.header("idempotent-replayed", "true");
      reply.code(202);
      return answer;
    },
  );
}
