import { orderStates } from "@bursar/domain";
import type { OrderFilter } from "../../app/markets/order.js";
import {
  type IdRange,
  idRange,
  newest,
  newestWith,
  selectBoundedPage,
  whereAllOf,
} from "../core/rows/bounded-page.js";
import { type Statement, sql } from "../core/sql.js";

export interface OrderPage {
  tenantId: string;
  filter: OrderFilter;
  limit: number;
  /** The last id of the page before. */
  beforeId: string | undefined;
}

/**
 * The ids of a page, newest first. One condition leads, by an index, and the others are looked at row by row, for a bounded number of
 * rows:
 *   a reference   its orders are few (orders_by_reference, which does not hold orders without one)
 *   a state       what is open is little (open_orders); rejected orders are rare, and other final states lead if there is neither a
 *                 wallet nor a client (events_by_final_order_state)
 *   a wallet      orders_by_wallet
 *   a client      orders_by_client
 *   a market      orders_by_market
 *   otherwise     the primary key
 */
export function selectPageOfOrders({ tenantId, filter, limit, beforeId }: OrderPage): Statement {
  const { state, market, clientId, reference, walletId } = filter;
  const range = idRange(filter, beforeId);
  const bounded = (lead: Lead, ...leading: readonly (keyof OrderFilter)[]) =>
    selectBoundedPage({ lead, rest: looked(tenantId, conditionsOf(filter, leading)), limit });

  if (reference !== undefined) return bounded(withReference(tenantId, reference, range), "reference");
  if (state !== undefined && !orderStates[state].final)
    return selectBoundedPage({
      lead: open(tenantId, range),
      rest: sql`${looked(tenantId, conditionsOf(filter, ["state"])) ?? sql`WHERE true`} AND s.state = ${state}`,
      limit,
    });
  const isNarrow = clientId !== undefined || walletId !== undefined;
  if (state !== undefined && (state === "rejected" || !isNarrow))
    return bounded(inFinalState(tenantId, state, range), "state");
  if (walletId !== undefined)
    return bounded(withValue(tenantId, sql`o.wallet_id`, walletId, range), "walletId");
  if (clientId !== undefined)
    return bounded(withValue(tenantId, sql`o.client_id`, clientId, range), "clientId");
  if (market !== undefined) return bounded(withValue(tenantId, sql`o.market`, market, range), "market");
  return bounded(all(tenantId, range));
}

/** The conditions of a filter on a row, besides those that lead and those of time, which are a range of ids. */
function conditionsOf(filter: OrderFilter, leading: readonly (keyof OrderFilter)[]): Statement[] {
  const { market, side, clientId, walletId, state } = filter;
  const conditions: Partial<Record<keyof OrderFilter, Statement | undefined>> = {
    market: market === undefined ? undefined : sql`o.market = ${market}`,
    side: side === undefined ? undefined : sql`o.side = ${side}`,
    clientId: clientId === undefined ? undefined : sql`o.client_id = ${clientId}`,
    walletId: walletId === undefined ? undefined : sql`o.wallet_id = ${walletId}`,
    state: state === undefined ? undefined : hasState(state),
  };
  for (const name of leading) delete conditions[name];
  return Object.values(conditions).filter((condition) => condition !== undefined);
}

type Lead = (rowsMax: Statement) => Statement;

/** Conditions on the rows that the lead's ids are of. */
function looked(tenantId: string, conditions: readonly Statement[]): Statement | undefined {
  return whereAllOf(sql`orders o WHERE o.tenant_id = ${tenantId} AND o.id = s.id`, conditions);
}

function all(tenantId: string, range: IdRange): Lead {
  return (max) =>
    sql`SELECT o.id FROM orders o WHERE o.tenant_id = ${tenantId} ${newest(sql`o.id`, range, max)}`;
}

function withValue(tenantId: string, column: Statement, value: string, range: IdRange): Lead {
  return (max) => sql`
    SELECT o.id FROM orders o WHERE o.tenant_id = ${tenantId} ${newestWith(column, sql`o.id`, value, range, max)}`;
}

function withReference(tenantId: string, reference: string, range: IdRange): Lead {
  return (max) => sql`
    SELECT o.id FROM orders o
    WHERE o.tenant_id = ${tenantId} AND o.reference IS NOT NULL ${newestWith(sql`o.reference COLLATE "C"`, sql`o.id`, reference, range, max)}`;
}

function open(tenantId: string, range: IdRange): Lead {
  return (max) => sql`
    SELECT p.id, p.state FROM open_orders p WHERE p.tenant_id = ${tenantId} ${newest(sql`p.id`, range, max)}`;
}

function inFinalState(tenantId: string, state: string, range: IdRange): Lead {
  return (max) => sql`
    SELECT e.subject_id AS id FROM events e
    WHERE e.tenant_id = ${tenantId} AND e.event = 'order.updated' AND e.state IN ('filled', 'cancelled', 'rejected')
      ${newestWith(sql`e.state`, sql`e.subject_id`, state, range, max)}`;
}

/** The state of one row: that of its last event, `pending` before the first. */
function hasState(state: string): Statement {
  return sql`${state} = coalesce(
    (SELECT e.state FROM events e WHERE e.tenant_id = o.tenant_id AND e.subject_id = o.id ORDER BY e.version DESC LIMIT 1),
    'pending')`;
}
