import type { FailedItem } from "@bursar/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { bursar } from "../../api/bursar";
import { useAction } from "../../api/use-action";
import { ActionButton } from "../../ui/forms/action-button";
import { Loaded } from "../../ui/panels/loaded";
import { Problem } from "../../ui/panels/problem";
import { SimpleTable } from "../../ui/tables/simple-table";
import { Countdown } from "../../ui/values/countdown";
import { StateBadge } from "../../ui/values/state-badge";

/** What the service could not process because of a fault of its own. */
export function Failures() {
  const queries = useQueryClient();
  const failures = useQuery({
    queryKey: ["system", "failures"],
    queryFn: ({ signal }) => bursar.system.listFailures({ signal }),
    refetchInterval: 10_000,
  });
  const retry = useAction({
    mutationFn: (id: string) => bursar.system.retry(id),
    onSettled: () => queries.invalidateQueries({ queryKey: ["system"] }),
  });
  return (
    <section className="stack" aria-labelledby="failures">
      <h2 id="failures">What has failed</h2>
      {retry.error !== null && <Problem error={retry.error} />}
      <Loaded query={failures}>
        {({ data }) =>
          data.length === 0 ? (
            <p className="quiet">Nothing has failed because of a fault of the service.</p>
          ) : (
            <>
              <p className="quiet">
                Each is retried by itself. The operator sees the reason with bursar failures list.
              </p>
              <SimpleTable
                caption="What has failed"
                rows={data}
                keyOf={({ id }) => id}
                columns={[
                  { title: "Kind", cell: ({ kind }) => kind },
                  { title: "Id", cell: ({ id }) => <code>{id}</code> },
                  { title: "State", cell: ({ state }) => <StateBadge state={state} /> },
                  { title: "Attempts", isNumber: true, cell: ({ attempts }) => attempts },
                  { title: "Next attempt", cell: (failure) => <Next failure={failure} /> },
                  {
                    title: "Action",
                    cell: ({ id }) => (
                      <ActionButton
                        isPending={retry.isPending && retry.variables === id}
                        onAct={() => retry.mutate(id)}
                      >
                        Retry now
                      </ActionButton>
                    ),
                  },
                ]}
              />
            </>
          )
        }
      </Loaded>
    </section>
  );
}

function Next({ failure: { retry_at, state } }: { failure: FailedItem }) {
  if (retry_at !== null) return <Countdown until={retry_at} isDeadline={false} />;
  return state === "set_aside" ? "when somebody asks for it" : "now";
}
