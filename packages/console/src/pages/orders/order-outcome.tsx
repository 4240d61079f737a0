import type { Order } from "@bursar/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useEffect } from "react";
import { bursar } from "../../api/bursar";
import { useScopes } from "../../session/use-me";
import { Amount } from "../../ui/values/amount";
import { ForeignText } from "../../ui/values/foreign-text";
import { isOpen } from "./order-actions";

/** The market deals with an order within milliseconds, and with one that rests whenever somebody trades with it. */
const pendingMs = 400;
const restingMs = 2000;

/** What has become of an order that was placed here: it is followed until it has ended. */
export function OrderOutcome({ placed }: { placed: Order }) {
  const queries = useQueryClient();
  const { id, market } = placed;
  const isAllowed = useScopes().includes("orders:read");
  const { data: order = placed, error } = useQuery({
    queryKey: ["orders", "one", id],
    enabled: isAllowed,
    initialData: placed,
    initialDataUpdatedAt: 0,
    queryFn: ({ signal }) => bursar.orders.get(id, { signal }),
    refetchInterval: ({ state: { data } }) => refreshMs(data),
  });
  const { state, version } = order;
  // The lists of orders show it as it is here, and the wallet what it has by now.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the version says when it has changed
  useEffect(() => {
    void queries.invalidateQueries({ queryKey: ["orders", market] });
    void queries.invalidateQueries({ queryKey: ["wallet"] });
  }, [queries, market, version]);
  const isBad = state === "rejected" || (state === "cancelled" && order.failure !== null);
  return (
    <p className="notice" data-tone={isBad ? "bad" : undefined} role={isBad ? "alert" : "status"}>
      Order{" "}
      {isAllowed ? (
        <Link to="/orders/$id" params={{ id }}>
          {id}
        </Link>
      ) : (
        <code>{id}</code>
      )}{" "}
      <Words order={order} />
      {!isAllowed && " Your role does not read orders: what becomes of it is not shown here."}
      {error !== null && " It could not be read again, and may have changed since."}
    </p>
  );
}

function refreshMs(order: Order | undefined): number | false {
  if (order === undefined || !isOpen(order)) return false;
  return order.state === "pending" ? pendingMs : restingMs;
}

function Words({ order }: { order: Order }) {
  const { state, side, market, filled, quote_filled, fee, size, failure } = order;
  const [base, quote] = market.split("-");
  const because = failure !== null && (
    <>
      : <ForeignText text={failure.message} /> <code>{failure.code}</code>
    </>
  );
  const traded = (
    <>
      {side === "buy" ? "bought" : "sold"} <Amount value={filled} asset={base} /> for{" "}
      <Amount value={quote_filled} asset={quote} />, fee <Amount value={fee.amount} asset={fee.asset} />
    </>
  );
  switch (state) {
    case "pending":
      return "was accepted, and waits for the market.";
    case "open":
      return "is open: it waits in the book.";
    case "partially_filled":
      return (
        <>
          is filled in part: {traded}. The rest
          {size !== null && (
            <>
              {" "}
              of <Amount value={size} asset={base} />
            </>
          )}{" "}
          waits in the book.
        </>
      );
    case "filled":
      return <>is filled: {traded}.</>;
    case "rejected":
      return <>was rejected{because}. Nothing was traded.</>;
    case "cancelled":
      return (
        <>
          was cancelled{because}.{" "}
          {Number(filled) === 0 ? "Nothing was traded." : <>Before that it has {traded}.</>}
        </>
      );
  }
}
