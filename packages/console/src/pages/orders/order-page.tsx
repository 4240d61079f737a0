import type { BursarEvent, Order } from "@bursar/client";
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { bursar } from "../../api/bursar";
import { useScopes } from "../../session/use-me";
import { Curl } from "../../ui/panels/curl";
import { ClientFact, Fact, FactsCard, IdFact, StateFact, TextFact, TimeFact } from "../../ui/panels/facts";
import { Loaded } from "../../ui/panels/loaded";
import { ObjectPage } from "../../ui/panels/object-page";
import { RawJson } from "../../ui/panels/raw-json";
import { SimpleTable } from "../../ui/tables/simple-table";
import { Amount } from "../../ui/values/amount";
import { ClientId } from "../../ui/values/client-id";
import { ForeignText } from "../../ui/values/foreign-text";
import { ObjectLink } from "../../ui/values/object-link";
import { StateBadge } from "../../ui/values/state-badge";
import { Time } from "../../ui/values/time";
import { fillPrice, subtractExactly } from "./fill-price";
import { isOpen, OrderActions } from "./order-actions";

/** One order, also when it has ended. */
export function OrderPage() {
  const { id } = useParams({ from: "/orders/$id" });
  const mayWrite = useScopes().includes("orders:write");
  return (
    <ObjectPage
      title="Order"
      queryKey={["orders", "one", id]}
      read={(options) => bursar.orders.get(id, options)}
      refreshMs={(order) => (order !== undefined && isOpen(order) ? 2000 : false)}
      actions={(order) => mayWrite && isOpen(order) && <OrderActions order={order} />}
    >
      {(order) => <Details order={order} />}
    </ObjectPage>
  );
}

function Details({ order }: { order: Order }) {
  const scopes = useScopes();
  const { id, market, side, type, time_in_force, price, size, quote_size, filled, quote_filled } = order;
  const [base, quote] = market.split("-");
  return (
    <div className="stack">
      <FactsCard>
        <IdFact id={id} />
        <StateFact state={order.state} />
        <Fact name="Market">
          <Link to="/markets" search={{ market }}>
            {market}
          </Link>
        </Fact>
        <Fact name="Kind">
          {side}, {type}
          {time_in_force !== null && `, ${time_in_force.replaceAll("_", " ")}`}
        </Fact>
        <AmountFact name="Price" value={price} asset={quote} />
        <AmountFact name="Size" value={size} asset={base} />
        <AmountFact name="Spends at most" value={quote_size} asset={quote} />
        <AmountFact name="Filled" value={filled} asset={base} />
        <AmountFact name="Average price" value={fillPrice(order)} asset={quote} />
        <AmountFact
          name={side === "buy" ? "Paid" : "Received before the fee"}
          value={quote_filled}
          asset={quote}
        />
        <AmountFact name="Fee" value={order.fee.amount} asset={order.fee.asset} />
        <AmountFact
          name="Received after the fee"
          value={subtractExactly(side === "buy" ? filled : quote_filled, order.fee.amount)}
          asset={order.fee.asset}
        />
        <Fact name="Failure">
          {order.failure !== null && (
            <>
              <code>{order.failure.code}</code> <ForeignText text={order.failure.message} />
            </>
          )}
        </Fact>
        <Fact name="Wallet">
          <ObjectLink id={order.wallet_id} />
        </Fact>
        <TextFact name="Reference" text={order.reference} />
        <ClientFact name="Placed by" id={order.created_by} />
        <TimeFact name="Created" at={order.created_at} />
        <TimeFact name="Last change" at={order.updated_at} />
      </FactsCard>
      {scopes.includes("events:read") && <OrderHistory order={order} />}
      {scopes.includes("audit:read") && (
        <p>
          <Link to="/audit" search={{ object: id }}>
            Audit entries about this order
          </Link>
        </p>
      )}
      <RawJson value={order} />
      <Curl method="GET" path={`/v1/orders/${id}`} />
    </div>
  );
}

function AmountFact({
  name,
  value,
  asset,
}: {
  name: string;
  value: string | null;
  asset: string | undefined;
}) {
  return (
    <Fact name={name}>
      {value !== null && <Amount value={value} {...(asset === undefined ? {} : { asset })} />}
    </Fact>
  );
}

const eventsMax = 100;

/** Each change, from the event log, with who asked for it. */
function OrderHistory({ order: { id, version } }: { order: Order }) {
  const query = useQuery({
    queryKey: ["orders", "history", id, version],
    queryFn: ({ signal }) =>
      bursar.events.list({ subject_id: id, order: "desc", limit: eventsMax }, { signal }).page(),
  });
  return (
    <section className="stack" aria-labelledby="history">
      <h2 id="history">History</h2>
      <Loaded query={query}>
        {({ data, has_more }) => (
          <>
            {data.length === 0 && <p className="quiet">The market has not dealt with it yet.</p>}
            {data.length > 0 && (
              <SimpleTable
                caption="History, newest first"
                rows={changesOf(data, has_more)}
                keyOf={({ sequence }) => String(sequence)}
                columns={[
                  { title: "Time", cell: ({ occurred_at }) => <Time at={occurred_at} long /> },
                  {
                    title: "State",
                    cell: ({ data: { order } }) => <StateBadge state={order.state} />,
                  },
                  {
                    title: "Size",
                    isNumber: true,
                    cell: ({ data: { order } }) => order.size !== null && <Amount value={order.size} />,
                  },
                  {
                    title: "Filled",
                    isNumber: true,
                    cell: ({ data: { order } }) => <Amount value={order.filled} />,
                  },
                  {
                    title: "At, on average",
                    isNumber: true,
                    cell: ({ price }) => price !== null && <Amount value={price} />,
                  },
                  { title: "By", cell: ({ actor }) => <ClientId id={actor.client_id} /> },
                ]}
              />
            )}
            {has_more && <p className="quiet">There are more: these are the last {eventsMax} changes.</p>}
          </>
        )}
      </Loaded>
    </section>
  );
}

/** Each change with the price of what it has traded. Of the oldest that was read, that is known only if there is none before it. */
function changesOf(events: readonly BursarEvent[], hasMore: boolean) {
  const changes = events.flatMap((one) => (one.event === "order.updated" ? [one] : []));
  return changes.map((one, index) => {
    const before = changes[index + 1]?.data.order;
    const price = before === undefined && hasMore ? null : fillPrice(one.data.order, before);
    return { ...one, price };
  });
}
