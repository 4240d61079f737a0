import { countResends, ReplayBody, ReplayedEvents } from "@bursar/protocol";
import { itemsOfResends } from "../../../app/quotas/take-quota.js";
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
      summary: "Replay events from a sequence",
      description:
        "Sends the logged events of the kinds that the endpoint subscribes to, as new deliveries in log order. A request covers up to 1000 events; `next_sequence` says where to continue.",
      body: ReplayBody,
      itemsOf: (body) => countResends(body as ReplayBody),
      idempotent: "honoured",
      success: {
        status: 202,
        schema: ReplayedEvents,
        description: "How many events are sent again, and where to continue.",
      },
      errors: ["WEBHOOK_BACKLOG_FULL", "WEBHOOK_ENDPOINT_NOT_FOUND"],
    },
    async (request, reply) => {
      const { replayed, ...answer } = unwrap(
        await replayEvents(originOf(request), request.body, readIdempotencyKey(request)),
      );
      if (replayed) reply.header("idempotent-replayed", "true");
      else request.itemsFound = itemsOfResends(answer.resent);
      reply.code(202);
      return answer;
    },
  );
}
