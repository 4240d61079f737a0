import type { Transaction } from "@bursar/client";
import { SimpleTable } from "../../ui/tables/simple-table";
import { ClientId } from "../../ui/values/client-id";
import { ForeignText } from "../../ui/values/foreign-text";
import { StateBadge } from "../../ui/values/state-badge";
import { Time } from "../../ui/values/time";

export function TransactionHistory({ transaction }: { transaction: Transaction }) {
  return (
    <section className="stack" aria-labelledby="history">
      <h2 id="history">History</h2>
      <SimpleTable
        caption="History"
        rows={transaction.history}
        keyOf={({ version }) => String(version)}
        columns={[
          { title: "Version", cell: ({ version }) => version },
          {
            title: "State",
            cell: ({ state, approval }) => (
              <>
                <StateBadge state={state} />
                {approval !== undefined && ` ${approval.decision}`}
              </>
            ),
          },
          { title: "Time", cell: ({ occurred_at }) => <Time at={occurred_at} long /> },
          {
            title: "By",
            cell: ({ version, approval, actor }) => (
              <ClientId
                id={
                  approval?.client_id ?? actor?.client_id ?? (version === 1 ? transaction.created_by : null)
                }
              />
            ),
          },
          {
            title: "Comment",
            cell: ({ approval }) => approval?.comment != null && <ForeignText text={approval.comment} />,
          },
        ]}
      />
    </section>
  );
}
