import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { bursar } from "../../api/bursar";
import { useAction } from "../../api/use-action";
import { Confirm } from "../../ui/dialogs/confirm";
import { ActionButton } from "../../ui/forms/action-button";
import { Loaded } from "../../ui/panels/loaded";
import { SimpleTable } from "../../ui/tables/simple-table";
import { Time } from "../../ui/values/time";

/** Where a person is logged in. `kept`: why they cannot be ended. `haveEnded`: nobody who is disabled, or has to register again, is; the list has such sessions until they expire. */
export function PersonSessions({
  id,
  kept,
  haveEnded,
}: {
  id: string;
  kept: string | undefined;
  haveEnded: boolean;
}) {
  const queries = useQueryClient();
  const [isAsking, setAsking] = useState(false);
  const sessions = useQuery({
    queryKey: ["sessions", id],
    queryFn: ({ signal }) => bursar.sessions.list(id, { signal }),
  });
  const end = useAction({
    mutationFn: () => bursar.sessions.endAll(id),
    onSuccess: () => setAsking(false),
    onSettled: () => queries.invalidateQueries({ queryKey: ["sessions", id] }),
  });
  return (
    <section className="stack" aria-labelledby="sessions">
      <h2 id="sessions">Sessions</h2>
      <Loaded query={sessions}>
        {({ data }) =>
          haveEnded || data.length === 0 ? (
            <p className="quiet">Not logged in anywhere.</p>
          ) : (
            <>
              <SimpleTable
                caption="Sessions"
                rows={data}
                keyOf={(session) => session.id}
                columns={[
                  { title: "Session", cell: (session) => <code>{session.id}</code> },
                  { title: "Begun", cell: (session) => <Time at={session.created_at} /> },
                  { title: "Ends at the latest", cell: (session) => <Time at={session.expires_at} /> },
                ]}
              />
              {kept === undefined ? (
                <div className="row">
                  <ActionButton tone="danger" isPending={end.isPending} onAct={() => setAsking(true)}>
                    End all sessions
                  </ActionButton>
                </div>
              ) : (
                <p className="quiet small">{kept}</p>
              )}
            </>
          )
        }
      </Loaded>
      {isAsking && (
        <Confirm
          title="End all sessions of this person?"
          verb="End all sessions"
          tone="danger"
          mutation={end}
          onConfirm={end.mutate}
          onClose={() => setAsking(false)}
        >
          <p>They are logged out everywhere at once, and can log in again.</p>
        </Confirm>
      )}
    </section>
  );
}
