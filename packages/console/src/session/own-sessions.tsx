import { useQuery, useQueryClient } from "@tanstack/react-query";
import { bursar } from "../api/bursar";
import { useAction } from "../api/use-action";
import { ActionButton } from "../ui/forms/action-button";
import { Loaded } from "../ui/panels/loaded";
import { Problem } from "../ui/panels/problem";
import { SimpleTable } from "../ui/tables/simple-table";
import { Countdown } from "../ui/values/countdown";
import { Time } from "../ui/values/time";
import { useCurrentSession } from "./current-session";

const queryKey = ["own-sessions"];

export function OwnSessions() {
  const queries = useQueryClient();
  const current = useCurrentSession();
  const sessions = useQuery({ queryKey, queryFn: () => bursar.sessions.listOwn() });
  const end = useAction({
    mutationFn: (id: string) => bursar.sessions.endOwn(id),
    onSuccess: () => queries.invalidateQueries(),
  });
  return (
    <section className="stack" aria-labelledby="sessions">
      <h2 id="sessions">Sessions</h2>
      <p className="quiet small">
        A session ends after 30 minutes without use, and 12 hours after it was opened.
      </p>
      <Loaded query={sessions}>
        {({ data }) => (
          <SimpleTable
            caption="Sessions"
            rows={data}
            keyOf={({ id }) => id}
            columns={[
              {
                title: "From",
                cell: ({ id, address, last_address }) => (
                  <>
                    {address} {last_address !== address && <>(last used from {last_address}) </>}
                    {id === current?.id && <strong>this session</strong>}
                  </>
                ),
              },
              { title: "Opened", cell: ({ created_at }) => <Time at={created_at} /> },
              { title: "Last used", cell: ({ last_used_at }) => <Time at={last_used_at} /> },
              { title: "Time left", cell: ({ expires_at }) => <Countdown until={expires_at} /> },
              {
                title: "Actions",
                cell: ({ id }) => (
                  <ActionButton
                    isPending={end.isPending && end.variables === id}
                    onAct={() => end.mutate(id)}
                  >
                    End
                  </ActionButton>
                ),
              },
            ]}
          />
        )}
      </Loaded>
      {end.error !== null && <Problem error={end.error} />}
    </section>
  );
}
