import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { bursar } from "../../api/bursar";
import { useScopes } from "../../session/use-me";
import { Amount } from "../../ui/amount";
import { Empty } from "../../ui/empty";
import { ForeignText } from "../../ui/foreign-text";
import { Loaded } from "../../ui/loaded";
import { PageHead } from "../../ui/page-head";
import { Scroller } from "../../ui/scroller";
import { StateBadge } from "../../ui/state-badge";
import { Time } from "../../ui/time";

const refreshMs = 5000;

export function OverviewPage() {
  const scopes = useScopes();
  return (
    <>
      <PageHead title="Overview" />
      {scopes.includes("transactions:read") && <Waiting />}
      {scopes.includes("transactions:read") && <Latest />}
    </>
  );
}

function Waiting() {
  const waiting = useQuery({
    queryKey: ["overview", "waiting"],
    queryFn: ({ signal }) =>
      bursar.transactions.list({ state: ["awaiting_approval"], limit: 100 }, { signal }).page(),
    refetchInterval: refreshMs,
  });
  return (
    <div className="cards">
      <div className="card">
        <h2>Waiting for approval</h2>
        <Loaded query={waiting}>
          {({ data, next_cursor }) => (
            <>
              <p className="figure">{next_cursor === null ? data.length : `${data.length}+`}</p>
              <Link to="/transactions" search={{ state: "awaiting_approval" }}>
                Show them
              </Link>
            </>
          )}
        </Loaded>
      </div>
    </div>
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
            <Scroller label="Table of the latest transactions">
              <table>
                <thead>
                  <tr>
                    <th scope="col">Created</th>
                    <th scope="col">Reference</th>
                    <th scope="col">State</th>
                    <th scope="col" className="number">
                      Amount
                    </th>
                  </tr>
                </thead>
                <tbody>
                  {data.map(({ id, created_at, reference, state, amount, asset }) => (
                    <tr key={id}>
                      <td>
                        <Time at={created_at} />
                      </td>
                      <td>
                        <Link to="/transactions/$id" params={{ id }}>
                          <ForeignText text={reference} limit={60} />
                        </Link>
                      </td>
                      <td>
                        <StateBadge state={state} />
                      </td>
                      <td className="number">
                        <Amount value={amount} asset={asset} />
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </Scroller>
          )
        }
      </Loaded>
    </section>
  );
}
