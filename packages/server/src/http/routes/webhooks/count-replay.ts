import { ReplayCount, ReplayCountQuery, WebhookEndpointPath } from "@bursar/protocol";
import { readSequence } from "../../../app/events/event.js";
import { itemsOfScan } from "../../../app/quotas/take-quota.js";
import type { UseCases } from "../../../app/use-cases.js";
import { countedRowsMax } from "../../../app/webhooks/endpoint-stats.js";
import { principalOf, unwrap } from "../../access/guard.js";
import { endpointIdOf } from "../../resource-path.js";
import { defineRoute } from "../../route.js";
import { presentCount } from "./show-webhook-stats.js";

export function countReplay({ countReplay: count }: Pick<UseCases, "countReplay">) {
  return defineRoute(
    {
      method: "GET",
      path: "/v1/webhook-endpoints/:id/replay",
      access: "webhooks:manage",
      operationId: "countReplay",
      tag: "Webhooks",
      summary: "Count what a replay would send",
      description:
        "The number of logged events from a sequence on that the endpoint subscribes to. It looks at 10000 events at most.",
      params: WebhookEndpointPath,
      query: ReplayCountQuery,
      success: { status: 200, schema: ReplayCount, description: "How many events a replay would send." },
      errors: ["WEBHOOK_ENDPOINT_NOT_FOUND"],
    },
    async (request) => {
      const { tenantId } = principalOf(request).principal;
      const from = readSequence(request.query.from_sequence);
      const counted = unwrap(await count(tenantId, endpointIdOf(request.params), from));
      // A log has no gaps.
      const looked = counted.isBound ? countedRowsMax : (counted.lastSequence ?? from) - from;
      request.itemsFound = itemsOfScan(looked);
      return { from_sequence: from, ...presentCount(counted), last_sequence: counted.lastSequence ?? null };
    },
  );
}
