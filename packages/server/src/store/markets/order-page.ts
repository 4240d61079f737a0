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
 * rows. What is open is little and is read by open_orders' primary key. Rejected orders are rare, so their state leads
 * (events_by_final_order_state); other final states lead if there is no client. Then a client (orders_by_client) or a market
 * (orders_by_market) leads, or else the primary key.
 */
export function selectPageOfOrders({ tenantId, filter, limit, beforeId }: OrderPage): Statement {
  const { state, market, side, clientId } = filter;
  const range = idRange({}, beforeId);
  const ofMarket = market === undefined ? [] : [sql`o.market = ${market}`];
  const ofSide = side === undefined ? [] : [sql`o.side = ${side}`];
  const ofClient = clientId === undefined ? [] : [sql`o.client_id = ${clientId}`];
  const bounded = (lead: Lead, conditions: readonly Statement[]) =>
    selectBoundedPage({ lead, rest: looked(tenantId, conditions), limit });

  if (state !== undefined && !orderStates[state].final)
    return selectBoundedPage({
      lead: open(tenantId, range),
      rest: sql`${looked(tenantId, [...ofMarket, ...ofSide, ...ofClient]) ?? sql`WHERE true`} AND s.state = ${state}`,
      limit,
    });
  if (state !== undefined && (state === "rejected" || clientId === undefined))
    return bounded(inFinalState(tenantId, state, range), [...ofMarket, ...ofSide, ...ofClient]);
  const inState = state === undefined ? [] : [hasState(state)];
  if (clientId !== undefined)
    return bounded(withValue(tenantId, sql`o.client_id`, clientId, range), [
      ...ofMarket,
      ...ofSide,
      ...inState,
    ]);
  if (market !== undefined) return bounded(withValue(tenantId, sql`o.market`, market, range), ofSide);
  return bounded(all(tenantId, range), ofSide);
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

function hasState(state: string): Statement {
  return sql`${state} = (
    SELECT e.state FROM events e WHERE e.tenant_id = o.tenant_id AND e.subject_id = o.id ORDER BY e.version DESC LIMIT 1)`;
}
