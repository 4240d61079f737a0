import { EventList, EventQuery } from "@bursar/protocol";
import { readSequence } from "../../../app/events/event.js";
import type { UseCases } from "../../../app/use-cases.js";
import { principalOf } from "../../access/guard.js";
import { defineRoute } from "../../route.js";

export function listEvents({ listEvents: list }: Pick<UseCases, "listEvents">) {
  return defineRoute(
    {
      method: "GET",
      path: "/v1/events",
      access: "events:read",
      operationId: "listEvents",
      tag: "Events",
      summary: "Read the event log",
      description: "In order of `sequence`, which has no gaps. `after` is the last sequence already seen.",
      query: EventQuery,
      success: { status: 200, schema: EventList },
      errors: [],
    },
    async (request) => {
      const { after = 0, limit = 50 } = request.query;
      return { data: await list(principalOf(request).principal.tenantId, readSequence(after), limit) };
    },
  );
}
