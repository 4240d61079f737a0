import { useQuery, useQueryClient } from "@tanstack/react-query";
import { bursar } from "../../api/bursar";
import { useAction } from "../../api/use-action";
import { ActionButton } from "../../ui/forms/action-button";
import { Loaded } from "../../ui/panels/loaded";
import { Problem } from "../../ui/panels/problem";
import { SimpleTable } from "../../ui/tables/simple-table";
import { Time } from "../../ui/values/time";

/** Where a person is logged in. */
export function PersonSessions({ id }: { id: string }) {
  const queries = useQueryClient();
  const sessions = useQuery({
    queryKey: ["sessions", id],
    queryFn: ({ signal }) => bursar.sessions.list(id, { signal }),
  });
  const end = useAction({
    mutationFn: () => bursar.sessions.endAll(id),
    onSettled: () => queries.invalidateQueries({ queryKey: ["sessions", id] }),
  });
  return (
    <section className="stack" aria-labelledby="sessions">
      <h2 id="sessions">Sessions</h2>
      <Loaded query={sessions}>
        {({ data }) =>
          data.length === 0 ? (
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
              <div className="row">
                <ActionButton tone="danger" isPending={end.isPending} onAct={() => end.mutate()}>
                  End all sessions
                </ActionButton>
              </div>
            </>
          )
        }
      </Loaded>
      {end.error !== null && <Problem error={end.error} />}
    </section>
  );
}
