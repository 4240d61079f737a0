import type { WebhookDeliverySummary } from "@bursar/client";
import { Link } from "@tanstack/react-router";
import type { Column } from "../../ui/tables/table-head";
import { Countdown } from "../../ui/values/countdown";
import { StateBadge } from "../../ui/values/state-badge";
import { Time } from "../../ui/values/time";

/** What every list of deliveries shows. */
export const deliveryColumns: readonly Column<WebhookDeliverySummary>[] = [
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
    cell: ({ next_attempt_at }) =>
      next_attempt_at === null ? "-" : <Countdown until={next_attempt_at} isDeadline={false} />,
  },
];
