import type { ListWebhookDeliveriesQuery, WebhookDeliverySummary } from "@bursar/client";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { bursar } from "../../api/bursar";
import { SelectField } from "../../ui/forms/text-field";
import { Empty } from "../../ui/panels/empty";
import { PagedTable } from "../../ui/tables/paged-table";
import type { Column } from "../../ui/tables/table-head";
import { Countdown } from "../../ui/values/countdown";
import { StateBadge } from "../../ui/values/state-badge";
import { Time } from "../../ui/values/time";

type State = NonNullable<ListWebhookDeliveriesQuery["state"]>;
const states: readonly State[] = ["pending", "delivered", "exhausted"];

/** The deliveries to one endpoint, or to all, newest first. */
export function Deliveries({ endpointId }: { endpointId?: string }) {
  const [state, setState] = useState<State | "">("");
  return (
    <>
      <div className="narrow">
        <SelectField label="State" value={state} onValue={(value) => setState(value as State | "")}>
          <option value="">All</option>
          {states.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </SelectField>
      </div>
      <PagedTable
        caption="Deliveries, newest first"
        queryKey={["webhooks", "deliveries", endpointId, state]}
        list={(position, options) =>
          bursar.webhookDeliveries.list(
            {
              ...position,
              ...(endpointId === undefined ? {} : { endpoint_id: endpointId }),
              ...(state === "" ? {} : { state }),
            },
            options,
          )
        }
        columns={columns}
        keyOf={({ id }) => id}
        refetchIntervalMs={10_000}
        empty={
          <Empty title="No deliveries">
            {state === ""
              ? "Events that happen from now on appear here. Older ones can be replayed."
              : "No delivery is in this state."}
          </Empty>
        }
      />
    </>
  );
}

const columns: readonly Column<WebhookDeliverySummary>[] = [
  { title: "Created", cell: ({ created_at }) => <Time at={created_at} /> },
  {
    title: "Event",
    cell: ({ id, event }) => (
      <Link to="/deliveries/$id" params={{ id }}>
        {event}
      </Link>
    ),
  },
  { title: "Sequence", isNumber: true, cell: ({ sequence }) => sequence },
  { title: "State", cell: ({ state }) => <StateBadge state={state} /> },
  { title: "Attempts", isNumber: true, cell: ({ attempt_count }) => attempt_count },
  { title: "Last status", isNumber: true, cell: ({ last_status }) => last_status ?? "-" },
  {
    title: "Next attempt",
    cell: ({ next_attempt_at }) => (next_attempt_at === null ? "-" : <Countdown until={next_attempt_at} />),
  },
];
