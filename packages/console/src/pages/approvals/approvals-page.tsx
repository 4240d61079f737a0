import type { Transaction } from "@bursar/client";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { bursar } from "../../api/bursar";
import { useWalletNames } from "../../api/wallet-names";
import { useMe } from "../../session/use-me";
import { ActionButton } from "../../ui/forms/action-button";
import { Empty } from "../../ui/panels/empty";
import { Loaded } from "../../ui/panels/loaded";
import { PageHead } from "../../ui/panels/page-head";
import type { Column } from "../../ui/tables/table-head";
import { VirtualTable } from "../../ui/tables/virtual-table";
import { Amount } from "../../ui/values/amount";
import { Countdown } from "../../ui/values/countdown";
import { ForeignText } from "../../ui/values/foreign-text";
import { Party } from "../../ui/values/party";
import { deadlineOf, readWaiting, type Waiting } from "./read-waiting";

/** How many are read, and how many more each time that somebody asks for them. */
const step = 2000;
const refreshMs = 5000;

/** Everything that waits for a decision, the nearest deadline first. */
export function ApprovalsPage() {
  const me = useMe().data?.client.id;
  const names = useWalletNames();
  const [max, setMax] = useState(step);
  const waiting = useQuery<Waiting>({
    queryKey: ["approvals", max],
    placeholderData: keepPreviousData,
    // A list of many pages is read less often, so that its requests stay as rare as those of a short one.
    refetchInterval: ({ state }) => refreshMs * (state.data?.pages ?? 1),
    queryFn: ({ signal }) =>
      readWaiting(
        bursar.transactions.list({ state: ["awaiting_approval"], limit: 200 }, { signal }).pages(),
        max,
      ),
  });
  return (
    <>
      <PageHead title="Approvals" />
      <Loaded query={waiting}>
        {({ rows, isCut }) =>
          rows.length === 0 ? (
            <Empty title="Nothing waits for a decision">
              Payments for which a rule of the policy requires approval appear here.
            </Empty>
          ) : (
            <>
              {isCut ? (
                <div className="notice row spread" data-tone="wait">
                  <span role="status">
                    Only the newest {rows.length} were read. Older ones, which can have nearer deadlines, are
                    missing here.
                  </span>
                  <ActionButton isPending={waiting.isPlaceholderData} onAct={() => setMax(max + step)}>
                    Read {step} more
                  </ActionButton>
                </div>
              ) : (
                <p className="quiet">
                  {rows.length} {rows.length === 1 ? "payment waits" : "payments wait"} for approval, the
                  nearest deadline first.
                </p>
              )}
              <VirtualTable
                caption="Payments that wait for approval"
                columns={columnsOf(me, names)}
                rows={rows}
                keyOf={({ id }) => id}
              />
            </>
          )
        }
      </Loaded>
    </>
  );
}

const columnsOf = (
  me: string | undefined,
  names: ReadonlyMap<string, string> | undefined,
): Column<Transaction>[] => [
  {
    title: "Reference",
    cell: ({ id, reference }) => (
      <Link to="/approvals/$id" params={{ id }}>
        <ForeignText text={reference} limit={60} />
      </Link>
    ),
  },
  {
    title: "Amount",
    isNumber: true,
    cell: ({ amount, asset }) => <Amount value={amount} asset={asset} />,
  },
  { title: "To", cell: ({ destination }) => <Party party={destination} names={names} /> },
  { title: "Deadline", cell: (transaction) => <Countdown until={deadlineOf(transaction)} /> },
  {
    title: "Approvals",
    cell: ({ approval }) => (approval === null ? null : `${approval.approved} of ${approval.required}`),
  },
  {
    title: "You",
    cell: ({ approval, created_by }) => {
      const own = approval?.decisions.find(({ client_id }) => client_id === me);
      if (own !== undefined) return own.decision === "approve" ? "approved" : "rejected";
      return created_by === me ? "requested it" : "open";
    },
  },
];
