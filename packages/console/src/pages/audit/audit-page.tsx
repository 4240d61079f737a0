import type { AuditEntry } from "@bursar/client";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { bursar } from "../../api/bursar";
import { UnresolvedName } from "../../named-filters/unresolved-name";
import { usePersonFilter } from "../../named-filters/use-named-filter";
import { JsonModal } from "../../ui/dialogs/json-modal";
import { Curl } from "../../ui/panels/curl";
import { Empty } from "../../ui/panels/empty";
import { PageHead } from "../../ui/panels/page-head";
import { Problem } from "../../ui/panels/problem";
import { ChoiceFilter } from "../../ui/tables/choice-filter";
import { CsvFile } from "../../ui/tables/csv-file";
import { LoadMore } from "../../ui/tables/load-more";
import { refreshFirstPage } from "../../ui/tables/refresh-first-page";
import type { Column } from "../../ui/tables/table-head";
import { TextFilters } from "../../ui/tables/text-filter";
import { VirtualTable } from "../../ui/tables/virtual-table";
import { ClientId } from "../../ui/values/client-id";
import { ForeignText } from "../../ui/values/foreign-text";
import { ObjectLink } from "../../ui/values/object-link";
import { StateBadge } from "../../ui/values/state-badge";
import { Time } from "../../ui/values/time";
import { actionName, knownActions } from "./action-name";
import { auditCsv } from "./audit-csv";
import {
  type AuditFilters,
  actors,
  outcomes,
  readAuditFilters,
  texts,
  timeFaults,
  toAuditQuery,
} from "./audit-filters";
import { ChainCheck } from "./chain-check";
import { Changes } from "./changes";
import { entryObjects } from "./entry-objects";

const refreshMs = 5000;

export function AuditPage() {
  const filters = useSearch({
    from: "/audit",
    select: (search) => readAuditFilters({ ...search }),
    structuralSharing: true,
  });
  const navigate = useNavigate();
  const [shown, setShown] = useState<AuditEntry>();
  const faults = timeFaults(filters);
  const isReadable = Object.keys(faults).length === 0;
  const log = useInfiniteQuery({
    queryKey: ["audit", filters],
    enabled: isReadable,
    queryFn: ({ pageParam, signal }) =>
      bursar.audit
        .list(
          { ...toAuditQuery(filters), limit: 100, ...(pageParam === undefined ? {} : { cursor: pageParam }) },
          { signal },
        )
        .page(),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
    ...refreshFirstPage(refreshMs),
  });
  const rows = log.data?.pages.flatMap(({ data }) => data) ?? [];
  const removedTo = log.data?.pages[0]?.removed_to ?? null;
  const set = (name: keyof AuditFilters, value = "") => {
    const { [name]: _, ...others } = filters;
    void navigate({
      to: "/audit",
      search: (value === "" ? others : { ...others, [name]: value }) as AuditFilters,
      replace: true,
    });
  };
  const person = usePersonFilter((id) => set("client_id", id));
  return (
    <>
      <PageHead title="Audit">
        {isReadable && (
          <CsvFile
            name="audit"
            rows="entries"
            others="Filter them, or export the log with `bursar audit export`."
            of={JSON.stringify(filters)}
            pagesOf={(signal) =>
              bursar.audit.list({ ...toAuditQuery(filters), limit: 200 }, { signal }).pages()
            }
            toCsv={auditCsv}
          />
        )}
      </PageHead>
      <search className="filters">
        <ChoiceFilter
          label="Actor"
          value={filters.actor}
          options={actors}
          onChange={(value) => set("actor", value)}
        />
        <ChoiceFilter
          label="Outcome"
          value={filters.outcome}
          options={outcomes}
          onChange={(value) => set("outcome", value)}
        />
        <TextFilters
          names={texts}
          filters={filters}
          faults={faults}
          suggestions={{ action: knownActions }}
          onChange={(name, value) => (name === "client_id" ? person.choose(value) : set(name, value))}
        />
      </search>
      {filters.client_id !== undefined && (
        <p className="small">
          <span className="quiet">Acts of</span> <ObjectLink id={filters.client_id} />
        </p>
      )}
      <UnresolvedName
        filter={person}
        nothing="Nobody"
        hint="The id is on the page of the person or the client, and in the entries."
        show={({ id }) => <ClientId id={id} />}
      />
      {log.error !== null && <Problem error={log.error} retry={() => void log.refetch()} />}
      {log.isPending && isReadable && <p className="quiet">Loading</p>}
      {log.data !== undefined && rows.length === 0 && log.hasNextPage && (
        <p className="quiet" role="status">
          The newest entries do not match these filters. Load more to look at older ones.
        </p>
      )}
      {log.data !== undefined && rows.length === 0 && !log.hasNextPage && (
        <Empty title="No entries">
          {Object.keys(filters).length === 0
            ? "Every act and every refused attempt is recorded here."
            : "No entry matches these filters. Remove one to see more."}
        </Empty>
      )}
      {rows.length > 0 && (
        <VirtualTable
          caption="Audit log, newest first"
          columns={columnsWith(setShown)}
          rows={rows}
          keyOf={({ number }) => String(number)}
        />
      )}
      <LoadMore query={log} />
      {removedTo !== null && (
        <p className="quiet small">Entries up to {removedTo} were exported to files and removed here.</p>
      )}
      <ChainCheck />
      <Curl method="GET" path="/v1/audit" />
      {shown !== undefined && (
        <JsonModal title={`Entry ${shown.number}`} value={shown} onClose={() => setShown(undefined)} />
      )}
    </>
  );
}

function columnsWith(show: (entry: AuditEntry) => void): Column<AuditEntry>[] {
  return [
    {
      title: "Entry",
      cell: (entry) => (
        <button
          type="button"
          className="link"
          aria-label={`Entry ${entry.number}`}
          onClick={() => show(entry)}
        >
          {entry.number}
        </button>
      ),
    },
    { title: "Time", cell: ({ occurred_at }) => <Time at={occurred_at} /> },
    {
      title: "By",
      cell: ({ actor, client_id }) => (client_id === null ? actor : <ClientId id={client_id} />),
    },
    {
      title: "Action",
      cell: ({ action }) => (
        <>
          <ForeignText text={actionName(action)} limit={80} />
          {actionName(action) !== action && (
            <span className="quiet small">
              {" "}
              <ForeignText text={action} limit={80} />
            </span>
          )}
        </>
      ),
    },
    {
      title: "Outcome",
      cell: ({ outcome, code }) => (
        <>
          <StateBadge state={outcome} /> {code !== null && <code>{code}</code>}
        </>
      ),
    },
    {
      title: "About",
      cell: (entry) => {
        const { ids, changes } = entryObjects(entry);
        const [first, ...others] = ids;
        if (first === undefined && changes.length === 0) return <span className="quiet">nothing</span>;
        return (
          <>
            {first !== undefined && <ObjectLink id={first} />}
            {others.length > 0 && <span className="quiet"> and {others.length} more</span>}
            {changes.length > 0 && <Changes changes={changes} />}
          </>
        );
      },
    },
    { title: "Times", isNumber: true, cell: ({ repeated }) => repeated },
    { title: "Address", cell: ({ address }) => address },
    {
      title: "Request",
      cell: ({ request_id }) => request_id !== null && <ForeignText text={request_id} limit={40} />,
    },
  ];
}
