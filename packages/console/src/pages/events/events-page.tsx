import type { BursarEvent } from "@bursar/client";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { LiveControls } from "../../live/live-controls";
import { LiveList } from "../../live/live-list";
import { useLiveList } from "../../live/use-live-list";
import { JsonModal } from "../../ui/dialogs/json-modal";
import { Curl } from "../../ui/panels/curl";
import { Empty } from "../../ui/panels/empty";
import { PageHead } from "../../ui/panels/page-head";
import { Problem } from "../../ui/panels/problem";
import { ChoiceFilter } from "../../ui/tables/choice-filter";
import type { Column } from "../../ui/tables/table-head";
import { TextFilter } from "../../ui/tables/text-filter";
import { VirtualTable } from "../../ui/tables/virtual-table";
import { ClientId } from "../../ui/values/client-id";
import { ForeignText } from "../../ui/values/foreign-text";
import { ObjectLink } from "../../ui/values/object-link";
import { StateBadge } from "../../ui/values/state-badge";
import { Time } from "../../ui/values/time";
import { type EventFilters, eventRows, eventSource, kinds, readEventFilters } from "./event-rows";
import { subjectOf } from "./event-subject";

/** The tenant's log of events, as webhooks and the stream have it. */
export function EventsPage() {
  const { kind, subject } = useSearch({
    from: "/events",
    select: (search) => readEventFilters({ ...search }),
    structuralSharing: true,
  });
  const navigate = useNavigate();
  const [shown, setShown] = useState<BursarEvent>();
  const list = useMemo(() => {
    const filters = { ...(kind && { kind }), ...(subject && { subject }) };
    return new LiveList(eventSource(filters), eventRows(filters));
  }, [kind, subject]);
  const { rows, connection, isCut, problem } = useLiveList(list);
  const change = (search: EventFilters) => void navigate({ to: "/events", search, replace: true });
  return (
    <>
      <PageHead title="Events">
        <LiveControls list={list} />
      </PageHead>
      <search className="filters">
        <ChoiceFilter
          label="Kind"
          value={kind}
          options={kinds}
          onChange={(chosen) => change({ ...(subject && { subject }), ...(chosen && { kind: chosen }) })}
        />
        <TextFilter
          key={subject ?? ""}
          label="About (id)"
          value={subject ?? ""}
          onChange={(text) => change({ ...(kind && { kind }), ...(text && { subject: text }) })}
        />
      </search>
      {problem !== undefined && <Problem error={problem} />}
      {rows.length === 0 && connection === "live" ? (
        <Empty title="No events">
          Every change of a transaction, wallet, order, endpoint or change request appears here as it happens.
        </Empty>
      ) : (
        <VirtualTable
          caption="Events, newest first"
          columns={columnsWith(setShown)}
          rows={rows}
          keyOf={({ sequence }) => String(sequence)}
        />
      )}
      {isCut && (
        <p className="quiet small">
          Only the newest {rows.length} are shown. Older ones: GET /v1/events?order=desc.
        </p>
      )}
      <Curl method="GET" path={`/v1/events?order=desc${kind === undefined ? "" : `&kinds=${kind}`}`} />
      {shown !== undefined && (
        <JsonModal title={`Event ${shown.sequence}`} value={shown} onClose={() => setShown(undefined)} />
      )}
    </>
  );
}

function columnsWith(show: (event: BursarEvent) => void): Column<BursarEvent>[] {
  return [
    {
      title: "Sequence",
      cell: (event) => (
        <button
          type="button"
          className="link"
          onClick={() => show(event)}
          aria-label={`Event ${event.sequence}`}
        >
          {event.sequence}
        </button>
      ),
    },
    { title: "Time", cell: ({ occurred_at }) => <Time at={occurred_at} /> },
    { title: "Event", cell: ({ event }) => event },
    {
      title: "State",
      cell: (event) => {
        const { state, previous, reason } = subjectOf(event);
        return (
          <>
            {previous !== undefined && <span className="quiet">{previous.replaceAll("_", " ")} to </span>}
            <StateBadge state={state} />
            {reason !== undefined && (
              <span className="quiet small">
                {" "}
                <ForeignText text={reason} limit={60} />
              </span>
            )}
          </>
        );
      },
    },
    { title: "By", cell: ({ actor }) => <ClientId id={actor.client_id} /> },
    {
      title: "About",
      cell: (event) => {
        const { id } = subjectOf(event);
        // It is in the event: a live list would read every payment for it.
        const reference =
          event.event === "transaction.updated" ? event.data.transaction.reference : undefined;
        return id === undefined ? "the audit log" : <ObjectLink id={id} reference={reference} />;
      },
    },
  ];
}
