import { isFinal, type TransactionKind, type TransactionState } from "@bursar/domain";
import type { TransactionFilter } from "../../app/transactions/transaction.js";
import {
  type IdRange,
  idRange,
  newest,
  newestWith,
  selectBoundedPage,
  whereAllOf,
} from "../core/rows/bounded-page.js";
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
 * which condition leads is decided here, and the others are looked at row by row, for a bounded number of rows:
 *   a reference   its transactions are few (transactions_by_reference)
 *   a rare kind   all but transfers (transactions_by_kind, which does not hold transfers)
 *   a wallet      unless a rare state is asked for too (transactions_by_source and _by_destination)
 *   a client      unless a rare state is asked for too (transactions_by_client)
 *   a state       what is open is little (open_transactions), a final state has an index (events_by_final_state)
 *   otherwise     the primary key
 */
export function selectPageOfIds(page: TransactionPage): Statement {
  const { tenantId, limit, beforeId, filter } = page;
  const { kind, state, walletId, reference, clientId, asset } = filter;
  const range = idRange(filter, beforeId);
  const isCommonState = state === undefined || state === "completed";
  const ofWallet = walletId === undefined ? [] : [isOfWallet(walletId)];
  const ofClient = clientId === undefined ? [] : [sql`t.client_id = ${clientId}`];
  const ofAsset = asset === undefined ? [] : [sql`t.asset = ${asset}`];
  const ofKind = kind === undefined ? [] : [sql`t.kind = ${kind}`];
  const inState = state === undefined ? [] : [hasState(state)];
  const bounded = (lead: Lead, conditions: readonly Statement[]) =>
    selectBoundedPage({ lead, rest: looked(tenantId, conditions), limit });

  if (reference !== undefined)
    return bounded(withValue(tenantId, sql`t.reference`, reference, range), [
      ...ofWallet,
      ...ofClient,
      ...ofAsset,
      ...ofKind,
      ...inState,
    ]);
  if (kind !== undefined && kind !== "transfer")
    return bounded(ofRareKind(tenantId, kind, range), [...ofWallet, ...ofClient, ...ofAsset, ...inState]);
  if (walletId !== undefined && isCommonState)
    return bounded(ofEitherSide(tenantId, walletId, range), [...ofClient, ...ofAsset, ...ofKind, ...inState]);
  if (clientId !== undefined && isCommonState)
    return bounded(withValue(tenantId, sql`t.client_id`, clientId, range), [
      ...ofAsset,
      ...ofKind,
      ...inState,
    ]);
  const others = [...ofWallet, ...ofClient, ...ofAsset, ...ofKind];
  if (state === undefined) return bounded(all(tenantId, range), others);
  if (isFinal(state)) return bounded(inFinalState(tenantId, state, range), others);
  return selectBoundedPage({
    lead: open(tenantId, range),
    rest: sql`${looked(tenantId, others) ?? sql`WHERE true`} AND s.state = ${state}`,
    limit,
  });
}

type Lead = (rowsMax: Statement) => Statement;

/** Conditions on the rows that the lead's ids are of. */
function looked(tenantId: string, conditions: readonly Statement[]): Statement | undefined {
  return whereAllOf(sql`transactions t WHERE t.tenant_id = ${tenantId} AND t.id = s.id`, conditions);
}

function all(tenantId: string, range: IdRange): Lead {
  return (max) => sql`
    SELECT t.id FROM transactions t WHERE t.tenant_id = ${tenantId} ${newest(sql`t.id`, range, max)}`;
}

function withValue(tenantId: string, column: Statement, value: string, range: IdRange): Lead {
  return (max) => sql`
    SELECT t.id FROM transactions t WHERE t.tenant_id = ${tenantId} ${newestWith(column, sql`t.id`, value, range, max)}`;
}

/** Transfers are nearly all transactions. They are not in this index, so that accepting one writes no further entry. */
function ofRareKind(tenantId: string, kind: TransactionKind, range: IdRange): Lead {
  return (max) => sql`
    SELECT t.id FROM transactions t
    WHERE t.tenant_id = ${tenantId} AND t.kind <> 'transfer' ${newestWith(sql`t.kind`, sql`t.id`, kind, range, max)}`;
}

/** A wallet can be on either side. Each side is read by its own index and gives its newest; the newest of both lead. */
function ofEitherSide(tenantId: string, walletId: string, range: IdRange): Lead {
  const source = withValue(tenantId, sql`t.source_account_id`, walletId, range);
  const destination = withValue(tenantId, sql`t.destination_account_id`, walletId, range);
  return (max) => sql`
    SELECT w.id FROM ((${source(max)}) UNION (${destination(max)})) w ORDER BY w.id DESC LIMIT ${max}`;
}

function inFinalState(tenantId: string, state: TransactionState, range: IdRange): Lead {
  return (max) => sql`
    SELECT e.subject_id AS id FROM events e
    WHERE e.tenant_id = ${tenantId} AND e.event = 'transaction.updated'
      AND e.state IN ('completed', 'rejected', 'failed', 'cancelled')
      ${newestWith(sql`e.state`, sql`e.subject_id`, state, range, max)}`;
}

/** The state is not part of the lead: open_transactions has no index on it, and a backlog can be large. */
function open(tenantId: string, range: IdRange): Lead {
  return (max) => sql`
    SELECT o.id, o.state FROM open_transactions o WHERE o.tenant_id = ${tenantId} ${newest(sql`o.id`, range, max)}`;
}

function isOfWallet(walletId: string): Statement {
  return sql`(t.source_account_id = ${walletId} OR t.destination_account_id = ${walletId})`;
}

/** The state of one row: that of its last event, `accepted` before the first. A subquery for one value never becomes a join. */
function hasState(state: TransactionState): Statement {
  return sql`${state} = coalesce(
    (SELECT e.state FROM events e WHERE e.tenant_id = t.tenant_id AND e.subject_id = t.id ORDER BY e.version DESC LIMIT 1),
    'accepted')`;
}
