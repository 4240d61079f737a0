import type { Overview } from "@bursar/client";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { bursar } from "../../api/bursar";
import { serviceClock } from "../../api/service-clock";
import { BarChart, lastHours } from "../../ui/panels/bar-chart";
import { Empty } from "../../ui/panels/empty";
import { Loaded } from "../../ui/panels/loaded";
import { SimpleTable } from "../../ui/tables/simple-table";
import { Amount } from "../../ui/values/amount";
import { Time } from "../../ui/values/time";

const dayMs = 86_400_000;
const hourMs = 3_600_000;
const bad = new Set(["rejected", "failed", "cancelled"]);

export function useHours() {
  return useQuery({
    queryKey: ["overview", "hours"],
    queryFn: ({ signal }) => {
      const from = new Date((Math.floor(serviceClock.nowMs() / hourMs) - 23) * hourMs).toISOString();
      return bursar.overview.show({ period: "hour", from }, { signal });
    },
    refetchInterval: 10_000,
  });
}

/** What has moved today, in UTC, by asset, and how the last 24 hours went. */
export function Flows() {
  const hours = useHours();
  const today = useQuery({
    queryKey: ["overview", "today"],
    queryFn: ({ signal }) => {
      const from = new Date(Math.floor(serviceClock.nowMs() / dayMs) * dayMs).toISOString();
      return bursar.overview.show({ period: "day", from }, { signal });
    },
    refetchInterval: 10_000,
  });
  return (
    <section className="stack" aria-labelledby="flows">
      <div className="row spread">
        <h2 id="flows">Today by asset</h2>
        <span className="quiet small">The day began at 0:00 UTC</span>
      </div>
      <Loaded query={today}>
        {(overview) => {
          const rows = byAsset(overview);
          return rows.length === 0 ? (
            <Empty title="Nothing has moved today">Payments and deposits are summed up here by asset.</Empty>
          ) : (
            <>
              <SimpleTable
                caption="Today by asset"
                rows={rows}
                keyOf={({ asset }) => asset}
                columns={[
                  { title: "Asset", cell: ({ asset }) => <strong>{asset}</strong> },
                  { title: "Completed", isNumber: true, cell: ({ completed }) => completed.count },
                  {
                    title: "Completed amount",
                    isNumber: true,
                    cell: ({ asset, completed }) => (
                      <Amount value={completed.amount} asset={asset} isNamed={false} />
                    ),
                  },
                  { title: "Not completed", isNumber: true, cell: ({ notCompleted }) => notCompleted },
                  { title: "Open now", isNumber: true, cell: ({ open }) => open },
                ]}
              />
              <p className="quiet small">
                The amount adds up all that was completed: deposits, payments to others, and payments between
                own wallets. It is not a balance. The balances are on the page of the{" "}
                <Link to="/wallets">wallets</Link>.
              </p>
            </>
          );
        }}
      </Loaded>
      <Loaded query={hours}>
        {({ periods, lag }) => (
          <>
            <BarChart title="Transactions that ended, by hour" bars={barsOf(periods)} />
            {lag.events > 0 && (
              <p className="quiet small">
                {lag.events} events are not yet included, the oldest is {Math.round(lag.seconds)} s old.
              </p>
            )}
            {lag.events === 0 && (
              <p className="quiet small">
                Current as of <Time at={new Date(hours.dataUpdatedAt).toISOString()} />.
              </p>
            )}
          </>
        )}
      </Loaded>
    </section>
  );
}

interface AssetFlow {
  asset: string;
  completed: { count: number; amount: string };
  notCompleted: number;
  open: number;
}

function byAsset({ periods, open }: Pick<Overview, "periods" | "open">): AssetFlow[] {
  const assets = [...new Set([...periods, ...open].map(({ asset }) => asset))].sort();
  return assets.map((asset) => {
    const own = periods.filter((period) => period.asset === asset);
    const completed = own.find(({ state }) => state === "completed");
    return {
      asset,
      completed: { count: completed?.count ?? 0, amount: completed?.amount ?? "0" },
      notCompleted: sum(own.filter(({ state }) => bad.has(state))),
      open: sum(open.filter((one) => one.asset === asset)),
    };
  });
}

function barsOf(periods: Overview["periods"]) {
  const starts = [...new Set(periods.map(({ start }) => start))];
  const rows = starts.map((start) => {
    const own = periods.filter((period) => period.start === start);
    return {
      start,
      completed: sum(own.filter(({ state }) => state === "completed")),
      notCompleted: sum(own.filter(({ state }) => bad.has(state))),
    };
  });
  return lastHours(rows, 24, serviceClock.nowMs()).map(({ label, row }) => ({
    label,
    parts: [
      { name: "completed", tone: "good" as const, value: row?.completed ?? 0 },
      { name: "rejected, failed or cancelled", tone: "bad" as const, value: row?.notCompleted ?? 0 },
    ],
  }));
}

function sum(counted: readonly { count: number }[]): number {
  return counted.reduce((total, { count }) => total + count, 0);
}
