import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { bursar } from "../../api/bursar";
import { usePendingChanges } from "../../api/open-changes";
import { usePendingApprovals } from "../../api/pending-approvals";
import { useRefreshOnEvents } from "../../live/use-refresh-on-events";
import { useScopes } from "../../session/use-me";
import { Empty } from "../../ui/panels/empty";
import { boundedText, FigureCard } from "../../ui/panels/figure-card";
import { Loaded } from "../../ui/panels/loaded";
import { PageHead } from "../../ui/panels/page-head";
import { SimpleTable } from "../../ui/tables/simple-table";
import { Time } from "../../ui/values/time";
import { transactionColumns } from "../transactions/columns";
import { countFailing } from "../webhooks/endpoint-health";
import { Flows, useHours } from "./flows";

const refreshMs = 5000;

export function OverviewPage() {
  const scopes = useScopes();
  useRefreshOnEvents([["overview"], ["approvals", "count"]]);
  return (
    <>
      <PageHead title="Overview" />
      <Attention scopes={scopes} />
      {scopes.includes("transactions:read") && <Flows />}
      {scopes.includes("transactions:read") && <Latest />}
    </>
  );
}

/** What needs somebody. Each card is shown to those who may read what it counts. */
function Attention({ scopes }: { scopes: readonly string[] }) {
  return (
    <div className="cards">
      {scopes.includes("transactions:read") && <Waiting />}
      <WaitingChanges />
      {scopes.includes("webhooks:manage") && <Endpoints />}
      {scopes.includes("system:manage") && <Backlog />}
      {scopes.includes("transactions:read") && <Behind />}
    </div>
  );
}

function Waiting() {
  const pending = usePendingApprovals();
  const isApprover = useScopes().includes("transactions:approve");
  return (
    <FigureCard
      title="Waiting for approval"
      tone={(pending?.count ?? 0) > 0 ? "wait" : undefined}
      figure={pending?.shown}
    >
      {isApprover ? (
        <Link to="/approvals">Decide about them</Link>
      ) : (
        <Link to="/transactions" search={{ state: "awaiting_approval" }}>
          Show them
        </Link>
      )}
    </FigureCard>
  );
}

/** Shown if a change waits for this person. */
function WaitingChanges() {
  const own = usePendingChanges()?.own ?? 0;
  if (own === 0) return null;
  return (
    <FigureCard title="Changes to decide" tone="wait" figure={own}>
      <Link to="/change-requests">Decide about the changes</Link>
    </FigureCard>
  );
}

function Endpoints() {
  const counts = useQuery({
    queryKey: ["webhooks", "failing"],
    queryFn: ({ signal }) => countFailing(bursar.webhookEndpoints.list({ limit: 200 }, { signal }).pages()),
    refetchInterval: 30_000,
  });
  const { failing, all = "…", isCut = false } = counts.data ?? {};
  const more = isCut ? "+" : "";
  return (
    <FigureCard
      title="Failing endpoints"
      figure={failing === undefined ? undefined : `${failing}${more}`}
      tone={failing !== undefined && failing > 0 ? "bad" : undefined}
    >
      <Link to="/webhooks">
        of {all}
        {more} webhook endpoints
      </Link>
    </FigureCard>
  );
}

function Backlog() {
  const system = useQuery({
    queryKey: ["system"],
    queryFn: ({ signal }) => bursar.system.show({ signal }),
    refetchInterval: refreshMs,
  });
  const { accepted } = system.data?.transactions ?? {};
  return (
    <FigureCard title="Backlog" figure={accepted === undefined ? undefined : boundedText(accepted)}>
      {accepted?.oldest_at == null ? (
        <Link to="/system">payments that wait for the engine</Link>
      ) : (
        <>
          oldest from <Time at={accepted.oldest_at} />
        </>
      )}
    </FigureCard>
  );
}

function Behind() {
  const lag = useHours().data?.lag;
  return (
    <FigureCard
      title="Sums behind"
      figure={lag === undefined ? undefined : `${Math.round(lag.seconds)} s`}
      tone={lag !== undefined && lag.seconds > 60 ? "wait" : undefined}
    >
      {lag?.events === 0
        ? "Sums and statements are current."
        : lag?.events === 1
          ? "1 event is not included."
          : `${lag?.events ?? "…"} events are not included.`}
    </FigureCard>
  );
}

function Latest() {
  const latest = useQuery({
    queryKey: ["overview", "latest"],
    queryFn: ({ signal }) => bursar.transactions.list({ limit: 10 }, { signal }).page(),
    refetchInterval: refreshMs,
  });
  return (
    <section className="stack" aria-labelledby="latest">
      <h2 id="latest">Latest transactions</h2>
      <Loaded query={latest}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title="Nothing has been paid yet">Create a payment, or run bursar tx create.</Empty>
          ) : (
            <SimpleTable
              caption="Latest transactions"
              rows={data}
              keyOf={({ id }) => id}
              columns={transactionColumns}
            />
          )
        }
      </Loaded>
    </section>
  );
}
