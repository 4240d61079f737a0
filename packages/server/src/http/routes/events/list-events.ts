import { EventList, EventQuery } from "@bursar/protocol";
import { readSequence } from "../../../app/events/event.js";
import type { UseCases } from "../../../app/use-cases.js";
import { principalOf, unwrap } from "../../access/guard.js";
import { defineRoute } from "../../route.js";

export function listEvents({ readEventPage: read }: Pick<UseCases, "readEventPage">) {
  return defineRoute(
    {
      method: "GET",
      path: "/v1/events",
      access: "events:read",
      operationId: "listEvents",
      tag: "Events",
      summary: "Read the event log",
      description:
        "In order of `sequence`, which has no gaps within an epoch. `after` is the last sequence already seen. If the log does not have it, the response is 422.",
      query: EventQuery,
      success: {
        status: 200,
        schema: EventList,
        description: "The events after `after`, and the epoch that gives their sequences a meaning.",
      },
      errors: ["SEQUENCE_AHEAD"],
    },
    async (request) => {
      const { after = 0, limit = 50 } = request.query;
      return unwrap(await read(principalOf(request).principal.tenantId, readSequence(after), limit));
    },
  );
}
