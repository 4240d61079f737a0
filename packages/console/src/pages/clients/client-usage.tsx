import type { ClientUsage as Usage } from "@bursar/client";
import { useQuery } from "@tanstack/react-query";
import { bursar } from "../../api/bursar";
import { serviceClock } from "../../api/service-clock";
import { BarChart, lastHours } from "../../ui/panels/bar-chart";
import { Loaded } from "../../ui/panels/loaded";
import { SimpleTable } from "../../ui/tables/simple-table";

const hourMs = 3_600_000;

/** The requests of a client in the last 24 hours, and what is left of its quotas. */
export function ClientUsage({ clientId }: { clientId: string }) {
  const usage = useQuery({
    queryKey: ["client-usage", clientId],
    queryFn: ({ signal }) => {
      const from = new Date((Math.floor(serviceClock.nowMs() / hourMs) - 23) * hourMs).toISOString();
      return bursar.clients.usage(clientId, { period: "hour", from }, { signal });
    },
    refetchInterval: 10_000,
  });
  return (
    <section className="stack" aria-labelledby="usage">
      <h2 id="usage">Usage</h2>
      <Loaded query={usage}>{(found) => <Shown usage={found} />}</Loaded>
    </section>
  );
}

function Shown({ usage: { data, quotas } }: { usage: Usage }) {
  const total = (name: "requests" | "refused" | "rate_limited" | "failed" | "cost") =>
    data.reduce((sum, point) => sum + point[name], 0);
  return (
    <>
      {data.length === 0 && <p className="quiet">It has sent no requests in the last 24 hours.</p>}
      <p hidden={data.length === 0}>
        {total("requests")} requests in the last 24 hours, of which {total("refused")} were refused,{" "}
        {total("rate_limited")} exceeded a quota and {total("failed")} failed. They have cost {total("cost")}{" "}
        tokens.
      </p>
      <BarChart
        title="Requests by hour"
        bars={lastHours(data, 24, serviceClock.nowMs()).map(({ label, row }) => {
          const { requests = 0, refused = 0, rate_limited = 0, failed = 0 } = row ?? {};
          return {
            label,
            parts: [
              { name: "answered", tone: "good", value: requests - refused - rate_limited - failed },
              { name: "refused or limited", tone: "wait", value: refused + rate_limited },
              { name: "failed", tone: "bad", value: failed },
            ],
          };
        })}
      />
      <SimpleTable
        caption="Quotas"
        rows={quotas}
        keyOf={({ class: name }) => name}
        columns={[
          { title: "Quota", cell: ({ class: name }) => name },
          { title: "Per second", isNumber: true, cell: ({ per_second }) => per_second },
          { title: "At once", isNumber: true, cell: ({ burst }) => burst },
          { title: "Left now", isNumber: true, cell: ({ remaining }) => remaining },
        ]}
      />
    </>
  );
}
