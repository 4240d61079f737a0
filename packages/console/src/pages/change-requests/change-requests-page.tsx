import type { ChangeRequest } from "@bursar/client";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { bursar } from "../../api/bursar";
import { SelectField } from "../../ui/forms/text-field";
import { Empty } from "../../ui/panels/empty";
import { PageHead } from "../../ui/panels/page-head";
import { PagedTable } from "../../ui/tables/paged-table";
import type { Column } from "../../ui/tables/table-head";
import { ClientId } from "../../ui/values/client-id";
import { Countdown } from "../../ui/values/countdown";
import { StateBadge } from "../../ui/values/state-badge";
import { Time } from "../../ui/values/time";
import { ChangeTarget } from "./change-target";
import { kindNames } from "./kind-names";

const states = [
  "pending",
  "scheduled",
  "applied",
  "rejected",
  "expired",
  "cancelled",
  "failed",
] as const satisfies readonly ChangeRequest["state"][];

/** Changes that another person or client has to approve before they take effect. */
export function ChangeRequestsPage() {
  const [state, setState] = useState<ChangeRequest["state"] | undefined>("pending");
  return (
    <>
      <PageHead title="Change requests" />
      <search className="filters">
        <SelectField
          label="State"
          value={state ?? ""}
          onValue={(value) => setState(states.find((one) => one === value))}
        >
          <option value="">All</option>
          {states.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </SelectField>
      </search>
      <PagedTable
        caption="Change requests"
        queryKey={["change-requests", state ?? "all"]}
        list={(position, options) =>
          bursar.changeRequests.list({ ...position, ...(state === undefined ? {} : { state }) }, options)
        }
        columns={columns}
        keyOf={({ id }) => id}
        refetchIntervalMs={10_000}
        empty={
          <Empty title={state === "pending" ? "No change waits for approval" : "No such change request"}>
            Changes that others must approve appear here. How they are made is said below.
          </Empty>
        }
      />
      <HowTheyAreMade />
    </>
  );
}

function HowTheyAreMade() {
  return (
    <section className="card stack small" aria-labelledby="how">
      <h2 id="how">How a change request is made</h2>
      <p>
        <strong>People and clients</strong> that approve payments, or manage the policy, destinations or
        clients, are protected. Change one on <Link to="/people">its page</Link>: if you may not do it alone,
        the page offers to request it from the others.
      </p>
      <p>
        <strong>The policy and destinations</strong> are changed by one person alone, until the{" "}
        <Link to="/policy">policy</Link> says otherwise. Add <code>"changes": {'{ "approvals": 1 }'}</code> to
        its JSON. From then on, what loosens the policy, and each change of a destination, becomes a request.
      </p>
      <p>
        Another protected person or client approves it, who is independent of the one who asks. Nothing
        changes until then.
      </p>
    </section>
  );
}

const columns: readonly Column<ChangeRequest>[] = [
  {
    title: "Change",
    cell: ({ id, kind }) => (
      <Link to="/change-requests/$id" params={{ id }}>
        {kindNames[kind]}
      </Link>
    ),
  },
  { title: "State", cell: ({ state }) => <StateBadge state={state} /> },
  { title: "Target", isWide: true, cell: (request) => <ChangeTarget request={request} /> },
  { title: "Requested by", cell: ({ requested_by }) => <ClientId id={requested_by} /> },
  {
    title: "Approvals",
    cell: ({ decisions, required }) =>
      `${decisions.filter(({ decision }) => decision === "approve").length} of ${required} recorded`,
  },
  {
    title: "Deadline",
    cell: ({ state, expires_at, created_at }) =>
      state === "pending" ? <Countdown until={expires_at} /> : <Time at={created_at} />,
  },
];
