import type { Transaction } from "@bursar/client";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { bursar } from "../../api/bursar";
import { useWalletNames } from "../../api/wallet-names";
import { useMe } from "../../session/use-me";
import { Amount } from "../../ui/amount";
import { Countdown } from "../../ui/countdown";
import { Empty } from "../../ui/empty";
import { ForeignText } from "../../ui/foreign-text";
import { Loaded } from "../../ui/loaded";
import { PageHead } from "../../ui/page-head";
import { Party } from "../../ui/party";
import type { Column } from "../../ui/virtual-table";
import { VirtualTable } from "../../ui/virtual-table";

const waitingMax = 500;

/** Everything that waits for a decision, the nearest deadline first. */
export function ApprovalsPage() {
  const me = useMe().data?.client.id;
  const names = useWalletNames();
  const waiting = useQuery({
    queryKey: ["approvals"],
    refetchInterval: 5000,
    queryFn: async ({ signal }) => {
      const found: Transaction[] = [];
      const list = bursar.transactions.list({ state: ["awaiting_approval"], limit: 200 }, { signal });
      for await (const transaction of list) {
        found.push(transaction);
        if (found.length === waitingMax) break;
      }
      return found.sort((one, other) => deadlineOf(one).localeCompare(deadlineOf(other)));
    },
  });
  return (
    <>
      <PageHead title="Approvals" />
      <Loaded query={waiting}>
        {(found) =>
          found.length === 0 ? (
            <Empty title="Nothing waits for a decision">
              Payments for which a rule of the policy requires approval appear here.
            </Empty>
          ) : (
            <VirtualTable
              caption="Payments that wait for approval"
              columns={columnsOf(me, names)}
              rows={found}
              keyOf={({ id }) => id}
            />
          )
        }
      </Loaded>
    </>
  );
}

const deadlineOf = ({ approval, created_at }: Transaction) => approval?.expires_at ?? created_at;

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
