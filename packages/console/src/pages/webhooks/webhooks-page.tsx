import type { WebhookEndpoint } from "@bursar/client";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { bursar } from "../../api/bursar";
import { Empty } from "../../ui/panels/empty";
import { PageHead } from "../../ui/panels/page-head";
import { PagedTable } from "../../ui/tables/paged-table";
import type { Column } from "../../ui/tables/table-head";
import { ForeignText } from "../../ui/values/foreign-text";
import { StateBadge } from "../../ui/values/state-badge";
import { Time } from "../../ui/values/time";
import { Deliveries } from "./deliveries";
import { healthOf, percentOf } from "./endpoint-health";
import { NewEndpoint } from "./new-endpoint";
import { useStats } from "./use-stats";

/** The endpoints with their health, and the deliveries to all of them. */
export function WebhooksPage() {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <PageHead title="Webhooks">
        <button type="button" className="button" data-tone="primary" onClick={() => setOpen(true)}>
          New endpoint
        </button>
      </PageHead>
      <PagedTable
        caption="Endpoints"
        queryKey={["webhooks", "endpoints"]}
        list={(position, options) => bursar.webhookEndpoints.list(position, options)}
        columns={columns}
        keyOf={({ id }) => id}
        refetchIntervalMs={10_000}
        empty={
          <Empty title="No endpoints">
            An endpoint receives events as signed requests. Create one, or try it locally with bursar webhooks
            listen.
          </Empty>
        }
      />
      <section className="stack" aria-labelledby="deliveries">
        <h2 id="deliveries">Latest deliveries</h2>
        <Deliveries />
      </section>
      {isOpen && <NewEndpoint onClose={() => setOpen(false)} />}
    </>
  );
}

const columns: readonly Column<WebhookEndpoint>[] = [
  {
    title: "Endpoint",
    cell: ({ id, url, description }) => (
      <>
        <Link to="/webhooks/$id" params={{ id }}>
          <ForeignText text={url} limit={80} />
        </Link>
        {description !== null && (
          <span className="quiet small">
            {" "}
            <ForeignText text={description} limit={80} />
          </span>
        )}
      </>
    ),
  },
  { title: "State", cell: (endpoint) => <StateBadge state={healthOf(endpoint)} /> },
  { title: "Events", cell: ({ events }) => (events.includes("*") ? "all" : events.join(", ")) },
  { title: "Delivered, 24 h", isNumber: true, cell: ({ id }) => <Rate id={id} /> },
  { title: "Waiting", isNumber: true, cell: ({ id }) => <Waiting id={id} /> },
  {
    title: "Failing since",
    cell: ({ failing_since }) => (failing_since === null ? "-" : <Time at={failing_since} />),
  },
];

function Rate({ id }: { id: string }) {
  const stats = useStats(id).data;
  if (stats === undefined) return <span className="quiet">…</span>;
  if (stats.success_rate === null) return <span className="quiet">nothing sent</span>;
  return (
    <>
      {percentOf(stats.success_rate)} <span className="quiet small">of {stats.attempts}</span>
    </>
  );
}

function Waiting({ id }: { id: string }) {
  const pending = useStats(id).data?.pending;
  if (pending === undefined) return <span className="quiet">…</span>;
  return pending.has_more ? `${pending.count}+` : pending.count;
}
