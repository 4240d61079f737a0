import { SimpleTable } from "../tables/simple-table";
import { NamedClientId } from "../values/client-id";
import { ForeignText } from "../values/foreign-text";
import { StateBadge } from "../values/state-badge";
import { Time } from "../values/time";

interface Decision {
  client_id: string;
  decision: "approve" | "reject";
  comment: string | null;
  decided_at: string;
  signed?: boolean;
}

/** Who has decided what, about a payment or a change. */
export function Decisions({ decisions, me }: { decisions: readonly Decision[]; me: string }) {
  return (
    <section className="stack" aria-labelledby="decisions">
      <h2 id="decisions">Decisions</h2>
      {decisions.length === 0 ? (
        <p className="quiet">No decision is recorded.</p>
      ) : (
        <SimpleTable
          caption="Decisions"
          rows={decisions}
          keyOf={({ client_id }) => client_id}
          columns={[
            {
              title: "Who",
              cell: ({ client_id }) => (client_id === me ? "You" : <NamedClientId id={client_id} />),
            },
            {
              title: "Decision",
              cell: ({ decision, signed }) => (
                <>
                  <StateBadge state={decision === "approve" ? "approved" : "rejected"} />
                  {signed === true && <span className="quiet small"> signed</span>}
                </>
              ),
            },
            { title: "Time", cell: ({ decided_at }) => <Time at={decided_at} /> },
            {
              title: "Comment",
              cell: ({ comment }) => (comment === null ? null : <ForeignText text={comment} />),
            },
          ]}
        />
      )}
    </section>
  );
}
