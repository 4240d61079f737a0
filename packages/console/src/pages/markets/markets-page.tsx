import type { Market, Order } from "@bursar/client";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useEffect, useMemo, useSyncExternalStore } from "react";
import { bursar } from "../../api/bursar";
import { NotLive, useMayFollow } from "../../live/not-live";
import { useScopes } from "../../session/use-me";
import { Empty } from "../../ui/panels/empty";
import { Loaded } from "../../ui/panels/loaded";
import { PageHead } from "../../ui/panels/page-head";
import { StateBadge } from "../../ui/values/state-badge";
import { BookWatch, confirmEveryMs, type WatchedBook } from "./book-watch";
import { DepthChart } from "./depth-chart";
import { Ladder } from "./ladder";
import { OrderForm } from "./order-form";
import { OwnOrders } from "./own-orders";
import { Trades } from "./trades";

const refreshMs = 2000;
/** Of the open orders in each state. */
const shownMax = 100;

export function MarketsPage() {
  const { market: asked } = useSearch({ from: "/markets" });
  const navigate = useNavigate();
  const markets = useQuery({
    queryKey: ["markets"],
    queryFn: ({ signal }) => bursar.markets.list({ signal }),
    refetchInterval: 10_000,
  });
  const chosen = markets.data?.data.find(({ market }) => market === asked) ?? markets.data?.data[0];
  return (
    <>
      <PageHead title="Markets">
        {chosen !== undefined && (
          <>
            <StateBadge state={chosen.state} />
            <select
              className="input small fit"
              aria-label="Market"
              value={chosen.market}
              onChange={({ target }) => void navigate({ to: "/markets", search: { market: target.value } })}
            >
              {markets.data?.data.map(({ market }) => (
                <option key={market}>{market}</option>
              ))}
            </select>
          </>
        )}
      </PageHead>
      <Loaded query={markets}>
        {() =>
          chosen === undefined ? (
            <Empty title="No markets">The operator configures markets, and docs/guides says how.</Empty>
          ) : (
            <MarketView key={chosen.market} market={chosen} />
          )
        }
      </Loaded>
    </>
  );
}

function MarketView({ market }: { market: Market }) {
  const scopes = useScopes();
  const mayRead = scopes.includes("orders:read");
  const mayWrite = scopes.includes("orders:write");
  const orders = useQuery({
    queryKey: ["orders", market.market],
    enabled: mayRead,
    refetchInterval: refreshMs,
    queryFn: ({ signal }) => openOrders(market.market, signal),
  });
  const watched = useBook(market.market);
  return (
    <>
      {market.state === "halted" && (
        <div className="notice" data-tone="wait">
          <p>This market is halted. It takes orders and executes them when the operator resumes it.</p>
        </div>
      )}
      <NotLive everyMs={confirmEveryMs} />
      <div className="columns">
        <Book market={market} watched={watched} orders={orders.data?.orders ?? []} />
        <div className="stack">
          {mayWrite && (
            <OrderForm
              market={market}
              book={watched.staleReason === undefined ? watched.book : undefined}
              own={orders.data?.isCut === false ? orders.data.orders : undefined}
            />
          )}
          <Trades market={market.market} quote={market.quote} />
        </div>
      </div>
      {mayRead && (
        <section className="stack" aria-labelledby="own">
          <div className="row spread">
            <h2 id="own">Your open orders</h2>
            <Link to="/orders" search={{ market: market.market }}>
              All orders, also those that have ended
            </Link>
          </div>
          <Loaded query={orders}>
            {({ orders, isCut }) => (
              <>
                <OwnOrders orders={orders} mayWrite={mayWrite} />
                {isCut && <p className="quiet small">The newest {shownMax} of each state are shown.</p>}
              </>
            )}
          </Loaded>
        </section>
      )}
    </>
  );
}

interface OpenOrders {
  orders: Order[];
  /** Whether there are more. */
  isCut: boolean;
}

async function openOrders(market: string, signal: AbortSignal): Promise<OpenOrders> {
  const states = ["open", "partially_filled", "pending"] as const;
  const pages = await Promise.all(
    states.map((state) => bursar.orders.list({ market, state, limit: shownMax }, { signal }).page()),
  );
  const found = pages.flatMap(({ data }) => data);
  // The newest first, whatever their states are. One that changes while they are read can be in two pages: the later state counts.
  const newest = new Map(found.sort((one, other) => one.version - other.version).map((one) => [one.id, one]));
  return {
    orders: [...newest.values()].sort((one, other) => other.id.localeCompare(one.id)),
    isCut: pages.some(({ next_cursor }) => next_cursor !== null),
  };
}

/** The book of a market while it is shown. */
function useBook(market: string): WatchedBook {
  const mayFollow = useMayFollow();
  const watch = useMemo(() => new BookWatch(market, mayFollow), [market, mayFollow]);
  useEffect(() => {
    const ending = new AbortController();
    void watch.run(ending.signal);
    return () => ending.abort();
  }, [watch]);
  return useSyncExternalStore(watch.subscribe, watch.state);
}

interface BookProps {
  market: Market;
  watched: WatchedBook;
  orders: readonly Order[];
}

function Book({ market, watched: { book, staleReason }, orders }: BookProps) {
  const mayFollow = useMayFollow();
  const isEmpty = book !== undefined && book.bids.length + book.asks.length === 0;
  return (
    <section className="card stack book" aria-labelledby="book" data-stale={staleReason !== undefined}>
      <div className="row spread">
        <h2 id="book">Order book</h2>
        <span
          className="badge"
          data-tone={staleReason !== undefined ? "wait" : book === undefined ? undefined : "good"}
          role="status"
        >
          {staleReason !== undefined
            ? "stale"
            : book === undefined
              ? "loading"
              : `${mayFollow ? "live" : "not live"}, sequence ${book.sequence}`}
        </span>
      </div>
      {staleReason !== undefined && (
        <div className="notice" data-tone="wait" role="alert">
          <p>{staleReason} Do not rely on these prices.</p>
        </div>
      )}
      {isEmpty && <Empty title="The book is empty">Nobody offers anything in this market now.</Empty>}
      {book !== undefined && !isEmpty && (
        <>
          <DepthChart book={book} base={market.base} quote={market.quote} />
          <Ladder book={book} orders={orders} />
        </>
      )}
    </section>
  );
}
