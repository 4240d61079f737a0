import { EventList, EventQuery } from "@bursar/protocol";
import type { Static } from "typebox";
import { readSequence } from "../../../app/events/event.js";
import { itemsOfScan } from "../../../app/quotas/take-quota.js";
import { scannedRowsMax } from "../../../app/requests/listed.js";
import type { UseCases } from "../../../app/use-cases.js";
import { principalOf, unwrap } from "../../access/guard.js";
import { readSubjectId } from "../../resource-path.js";
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
        "In order of `sequence`, which has no gaps within an epoch, or newest first. `after` is the last sequence already seen. If the log does not have it, the response is 422. Filters are combined with AND. While `has_more` is true, `scanned_to` is the `after` of the next page, or its `before` if the newest come first.",
      query: EventQuery,
      success: {
        status: 200,
        schema: EventList,
        description: "A page of events, and the epoch that gives their sequences a meaning.",
      },
      errors: ["SEQUENCE_AHEAD"],
    },
    async (request) => {
      const query = toQuery(request.query);
      const page = unwrap(await read(principalOf(request).principal.tenantId, query));
      // A page that is not full and not the last one has reached the bound of what is read for it.
      if (page.has_more && page.data.length < query.limit) request.itemsFound = itemsOfScan(scannedRowsMax);
      return page;
    },
  );
}

function toQuery(query: Static<typeof EventQuery>): Parameters<UseCases["readEventPage"]>[1] {
  const { after = 0, before, order, kinds, subject_id, limit = 50 } = query;
  return {
    after: readSequence(after),
    isNewestFirst: (order ?? (before === undefined ? "asc" : "desc")) === "desc",
    limit,
    ...(before === undefined ? {} : { before: readSequence(before) }),
    ...(kinds === undefined ? {} : { kinds }),
    ...(subject_id === undefined ? {} : { subjectId: readSubjectId(subject_id) }),
  };
}
