import type { BursarEvent } from "@bursar/client";
import { bursar } from "../../api/bursar";
import type { LiveRows, LiveSource } from "../../live/live-list";
import { subjectOf } from "./event-subject";

export const kinds = [
  "transaction.updated",
  "wallet.updated",
  "order.updated",
  "endpoint.disabled",
  "change_request.updated",
  "audit.checkpoint",
] as const satisfies readonly BursarEvent["event"][];

/** What the address of the page says: each member is absent if it does not restrict. */
export interface EventFilters {
  kind?: BursarEvent["event"];
  subject?: string;
}

const subjectMax = 64;

export function readEventFilters(search: Record<string, unknown>): EventFilters {
  const kind = kinds.find((known) => known === search["kind"]);
  const subject = Object.hasOwn(search, "subject") ? search["subject"] : undefined;
  return {
    ...(kind === undefined ? {} : { kind }),
    ...(typeof subject === "string" && subject !== "" ? { subject: subject.slice(0, subjectMax) } : {}),
  };
}

/** Events as rows of a live list, newest first. An event never changes. */
export function eventRows({ kind, subject }: EventFilters): LiveRows<BursarEvent> {
  return {
    read: (event) => event,
    keyOf: ({ sequence }) => String(sequence),
    versionOf: () => 1,
    matches: (event) =>
      (kind === undefined || event.event === kind) &&
      (subject === undefined || subjectOf(event).id === subject),
    compare: (one, other) => other.sequence - one.sequence,
  };
}

const loadedMax = 200;

/** Follows without a filter, so that every sequence comes and a hole is noticed. */
export function eventSource({ kind, subject }: EventFilters): LiveSource<BursarEvent> {
  return {
    load: async (signal) => {
      const query = {
        order: "desc" as const,
        limit: loadedMax,
        ...(kind === undefined ? {} : { kinds: [kind] }),
        ...(subject === undefined ? {} : { subject_id: subject }),
      };
      const { data, has_more, latest_sequence, epoch } = await bursar.events.list(query, { signal }).page();
      return { rows: data, isCut: has_more, sequence: latest_sequence, epoch };
    },
    follow: (since, epoch, signal, onConnection) =>
      bursar.events.follow({ since, epoch, signal, onConnection }),
  };
}
