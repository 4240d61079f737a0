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

interface DecisionsProps {
  decisions: readonly Decision[];
  me: string;
  /** Why decisions do not count, by who has made them, as far as that is known. */
  faults?: ReadonlyMap<string, string>;
}

/** Who has decided what, about a payment or a change. */
export function Decisions({ decisions, me, faults }: DecisionsProps) {
  return (
    <section className="stack" aria-labelledby="decisions">
      <h2 id="decisions">Decisions</h2>
      {decisions.length === 0 ? (
        <p className="quiet">No decision is recorded.</p>
      ) : (
        <SimpleTable
          caption="Decisions"
          rows={decisions}
          keyOf={({ client_id, decided_at }) => `${client_id} ${decided_at}`}
          columns={[
            {
              title: "Who",
              cell: ({ client_id }) => (client_id === me ? "You" : <NamedClientId id={client_id} />),
            },
            {
              title: "Decision",
              cell: ({ client_id, decision, signed }) => (
                <>
                  <StateBadge state={decision === "approve" ? "approved" : "rejected"} />
                  {signed === true && <span className="quiet small"> signed</span>}
                  {faults?.has(client_id) && (
                    <span className="small"> does not count: {faults.get(client_id)}</span>
                  )}
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
