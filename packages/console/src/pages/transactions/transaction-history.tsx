import type { Transaction } from "@bursar/client";
import { ClientId } from "../../ui/client-id";
import { ForeignText } from "../../ui/foreign-text";
import { StateBadge } from "../../ui/state-badge";
import { Time } from "../../ui/time";

export function TransactionHistory({ transaction }: { transaction: Transaction }) {
  return (
    <section className="stack" aria-labelledby="history">
      <h2 id="history">History</h2>
      <div className="scroller">
        <table>
          <thead>
            <tr>
              <th scope="col">Version</th>
              <th scope="col">State</th>
              <th scope="col">Time</th>
              <th scope="col">By</th>
              <th scope="col">Comment</th>
            </tr>
          </thead>
          <tbody>
            {transaction.history.map(({ version, state, occurred_at, actor, approval }) => (
              <tr key={version}>
                <td>{version}</td>
                <td>
                  <StateBadge state={state} />
                  {approval !== undefined && ` ${approval.decision}`}
                </td>
                <td>
                  <Time at={occurred_at} long />
                </td>
                <td>
                  <ClientId id={approval?.client_id ?? actor?.client_id ?? null} />
                </td>
                <td>{approval?.comment != null && <ForeignText text={approval.comment} />}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
