import { isFinal, type TransactionState } from "@bursar/domain";
import type { TransactionFilter } from "../../app/transactions/transaction.js";
import { idAt } from "../core/id-at.js";
import { type Statement, sql } from "../core/sql.js";

export interface TransactionPage {
  tenantId: string;
  filter: TransactionFilter;
  limit: number;
  /** The last id of the page before. */
  beforeId: string | undefined;
}

/**
 * The ids of a page, newest first. Plans are generic, so PostgreSQL cannot know that `completed` is common and `rejected` is rare;
 * which condition leads is decided here, and the others are looked at row by row:
 *   a reference   its transactions are few (transactions_by_reference)
 *   a client      unless an open state is asked for too (transactions_by_client)
 *   a wallet      unless a rare state is asked for too (transactions_by_source and _by_destination)
 *   a state       what is open is little (open_transactions), a final state has an index (events_by_final_state)
 *   otherwise     the primary key
 */
export function selectPageOfIds(page: TransactionPage): Statement {
  const { state, walletId, reference, clientId } = page.filter;
  if (reference !== undefined)
    return sql`${selectIds(page)} ${isOfWallet(walletId)} ${hasState(state)} ${newestFirst(page)}`;
  const isCommonState = state === undefined || state === "completed";
  if (walletId !== undefined && isCommonState) return idsOfWallet(page, walletId);
  if (clientId !== undefined && (state === undefined || isFinal(state)))
    return sql`${selectIds(page)} ${isOfWallet(walletId)} ${hasState(state)} ${newestFirst(page)}`;
  if (state !== undefined) return idsInState(page, state);
  return sql`${selectIds(page)} ${newestFirst(page)}`;
}

function selectIds({ tenantId, filter, beforeId }: TransactionPage): Statement {
  const { reference, asset, clientId } = filter;
  return sql`
    SELECT t.id FROM transactions t
    WHERE t.tenant_id = ${tenantId} ${idBounds(sql`t.id`, filter, beforeId)}
      ${reference === undefined ? sql`` : sql`AND t.reference = ${reference}`} ${hasAsset(asset)} ${isOfClient(clientId)}`;
}

function newestFirst({ limit }: TransactionPage): Statement {
  return sql`ORDER BY t.id DESC LIMIT ${limit}`;
}

/** A wallet can be on either side. Each side is read by its own index and gives a page; the newest of both are the page. */
function idsOfWallet(page: TransactionPage, walletId: string): Statement {
  const side = (column: Statement) =>
    sql`(${selectIds(page)} AND ${column} = ${walletId} ${hasState(page.filter.state)} ${newestFirst(page)})`;
  return sql`
    SELECT t.id FROM (${side(sql`t.source_account_id`)} UNION ${side(sql`t.destination_account_id`)}) t
    ${newestFirst(page)}`;
}

/** The order inside keeps PostgreSQL from turning the join around; it reads the index backwards and stops when the page is full. */
function idsInState(page: TransactionPage, state: TransactionState): Statement {
  const { tenantId, filter, beforeId } = page;
  const { walletId, asset, clientId } = filter;
  const inState = isFinal(state)
    ? sql`
        SELECT e.subject_id AS id FROM events e
        WHERE e.tenant_id = ${tenantId} AND e.state = ${state} AND e.event = 'transaction.updated'
          AND e.state IN ('completed', 'rejected', 'failed', 'cancelled') ${idBounds(sql`e.subject_id`, filter, beforeId)}
        ORDER BY e.subject_id DESC`
    : sql`
        SELECT o.id FROM open_transactions o
        WHERE o.tenant_id = ${tenantId} AND o.state = ${state} ${idBounds(sql`o.id`, filter, beforeId)}
        ORDER BY o.id DESC`;
  return sql`
    SELECT s.id FROM (${inState}) s JOIN transactions t ON t.tenant_id = ${tenantId} AND t.id = s.id
    WHERE true ${hasAsset(asset)} ${isOfClient(clientId)} ${isOfWallet(walletId)}
    ORDER BY s.id DESC LIMIT ${page.limit}`;
}

/** An id begins with its time, so a time is a bound on ids. */
function idBounds(
  id: Statement,
  { createdAfter, createdBefore }: TransactionFilter,
  beforeId: string | undefined,
): Statement {
  let bounds = beforeId === undefined ? sql`` : sql`AND ${id} < ${beforeId}`;
  if (createdAfter !== undefined) bounds = sql`${bounds} AND ${id} >= ${idAt(createdAfter)}`;
  if (createdBefore !== undefined) bounds = sql`${bounds} AND ${id} < ${idAt(createdBefore)}`;
  return bounds;
}

function isOfWallet(walletId: string | undefined): Statement {
  return walletId === undefined
    ? sql``
    : sql`AND (t.source_account_id = ${walletId} OR t.destination_account_id = ${walletId})`;
}

function isOfClient(clientId: string | undefined): Statement {
  return clientId === undefined ? sql`` : sql`AND t.client_id = ${clientId}`;
}

function hasAsset(asset: string | undefined): Statement {
  return asset === undefined ? sql`` : sql`AND t.asset = ${asset}`;
}

/** The state of one row: that of its last event, `accepted` before the first. A subquery for one value never becomes a join. */
function hasState(state: TransactionState | undefined): Statement {
  if (state === undefined) return sql``;
  return sql`AND ${state} = coalesce(
    (SELECT e.state FROM events e WHERE e.tenant_id = t.tenant_id AND e.subject_id = t.id ORDER BY e.version DESC LIMIT 1),
    'accepted')`;
}
