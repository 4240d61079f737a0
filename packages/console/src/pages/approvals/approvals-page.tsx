import type { Transaction } from "@bursar/client";
import { Link } from "@tanstack/react-router";
import { bursar } from "../../api/bursar";
import { useMe } from "../../session/use-me";
import { Empty } from "../../ui/panels/empty";
import { PageHead } from "../../ui/panels/page-head";
import { PagedTable } from "../../ui/tables/paged-table";
import type { Column } from "../../ui/tables/table-head";
import { Amount } from "../../ui/values/amount";
import { ClientId } from "../../ui/values/client-id";
import { Countdown } from "../../ui/values/countdown";
import { ForeignText } from "../../ui/values/foreign-text";
import { Party } from "../../ui/values/party";
import { ApprovalCount } from "./approval-count";

const refreshMs = 5000;

/** Everything that waits for a decision, the nearest deadline first. */
export function ApprovalsPage() {
  const me = useMe().data?.client.id;
  return (
    <>
      <PageHead title="Approvals" />
      <PagedTable
        caption="Payments that wait for approval, the nearest deadline first"
        queryKey={["approvals"]}
        list={(position, options) =>
          bursar.transactions.list({ state: ["awaiting_approval"], order: "deadline", ...position }, options)
        }
        columns={columnsOf(me)}
        keyOf={({ id }) => id}
        refetchIntervalMs={refreshMs}
        empty={
          <Empty title="Nothing waits for a decision">
            Payments for which a rule of the policy requires approval appear here.
          </Empty>
        }
      />
    </>
  );
}

const columnsOf = (me: string | undefined): Column<Transaction>[] => [
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
  { title: "To", cell: ({ destination, network }) => <Party party={destination} network={network} /> },
  { title: "Requested by", cell: ({ created_by }) => <ClientId id={created_by} /> },
  {
    title: "Deadline",
    cell: ({ approval }) => approval !== null && <Countdown until={approval.expires_at} />,
  },
  {
    title: "Approvals",
    cell: (transaction) => <ApprovalCount transaction={transaction} />,
  },
  {
    title: "Your decision",
    cell: ({ approval, created_by }) => {
      const own = approval?.decisions.find(({ client_id }) => client_id === me);
      if (own !== undefined) return own.decision === "approve" ? "approved" : "rejected";
      return created_by === me ? "you requested it" : "not yet";
    },
  },
];
