import { isFinal, type TransactionKind, type TransactionState } from "@bursar/domain";
import { depositKeyOf } from "../../app/deposits/deposit-key.js";
import type { TransactionFilter } from "../../app/transactions/transaction.js";
import {
  type IdRange,
  idRange,
  newest,
  newestWith,
  selectBoundedPage,
  whereAllOf,
} from "../core/rows/bounded-page.js";
import { joinStatements, type Statement, sql } from "../core/sql.js";

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
 *   a key         it has at most two transactions (the unique key)
 *   a reference   its transactions are few (transactions_by_reference)
 *   a rare kind   all but transfers (transactions_by_kind, which does not hold transfers)
 *   a wallet      unless rare states are asked for too (transactions_by_source and _by_destination)
 *   a client      unless rare states are asked for too (transactions_by_client)
 *   states        what is open is little (open_transactions), a final state has an index (events_by_final_state)
 *   otherwise     the primary key
 */
export function selectPageOfIds(page: TransactionPage): Statement {
  const { tenantId, limit, beforeId, filter } = page;
  const { kind, states, walletId, reference, idempotencyKey, clientId } = filter;
  const range = idRange(filter, beforeId);
  const isCommonState = states === undefined || states.includes("completed");
  const bounded = (lead: Lead, ...leading: readonly (keyof TransactionFilter)[]) =>
    selectBoundedPage({ lead, rest: looked(tenantId, conditionsOf(filter, leading)), limit });

  if (idempotencyKey !== undefined)
    return bounded(withKey(tenantId, idempotencyKey, range), "idempotencyKey");
  if (reference !== undefined)
    return bounded(withValue(tenantId, sql`t.reference COLLATE "C"`, reference, range), "reference");
  if (kind !== undefined && kind !== "transfer") return bounded(ofRareKind(tenantId, kind, range), "kind");
  if (walletId !== undefined && isCommonState)
    return bounded(ofEitherSide(tenantId, walletId, range), "walletId");
  if (clientId !== undefined && isCommonState)
    return bounded(withValue(tenantId, sql`t.client_id`, clientId, range), "clientId");
  if (states === undefined || (isCommonState && states.length > 1)) return bounded(all(tenantId, range));
  return selectInStates(page, states, range);
}

/** Each final state is read by its index, and what is open by its table, whose rows are filtered by their state. */
function selectInStates(
  { tenantId, filter, limit }: TransactionPage,
  states: readonly TransactionState[],
  range: IdRange,
): Statement {
  const opened = states.every(isFinal) ? [] : [open(tenantId, range)];
  const leads = [...opened, ...states.filter(isFinal).map((state) => inFinalState(tenantId, state, range))];
  const rest = looked(tenantId, conditionsOf(filter, ["states"]));
  const inState = sql`${rest ?? sql`WHERE true`} AND s.state = ANY(${[...states]}::text[])`;
  return selectBoundedPage({
    lead: merged(leads),
    rest: opened.length === 0 ? rest : inState,
    limit,
    bound: leads.length > 2 ? "narrow" : "wide",
  });
}

/** The conditions of a filter on a row, besides those that lead and those of time, which are a range of ids. */
function conditionsOf(filter: TransactionFilter, leading: readonly (keyof TransactionFilter)[]): Statement[] {
  const { kind, states, walletId, reference, clientId, asset, idempotencyKey } = filter;
  const conditions: Partial<Record<keyof TransactionFilter, Statement | undefined>> = {
    walletId: walletId === undefined ? undefined : isOfWallet(walletId),
    clientId: clientId === undefined ? undefined : sql`t.client_id = ${clientId}`,
    asset: asset === undefined ? undefined : sql`t.asset = ${asset}`,
    reference: reference === undefined ? undefined : sql`t.reference = ${reference}`,
    idempotencyKey:
      idempotencyKey === undefined
        ? undefined
        : sql`t.idempotency_key = ANY(${[idempotencyKey, depositKeyOf(idempotencyKey)]}::text[])`,
    kind: kind === undefined ? undefined : sql`t.kind = ${kind}`,
    states: states === undefined ? undefined : hasState(states),
  };
  for (const name of leading) delete conditions[name];
  return Object.values(conditions).filter((condition) => condition !== undefined);
}

type Lead = (rowsMax: Statement) => Statement;

/** Conditions on the rows that the lead's ids are of. */
function looked(
  tenantId: string,
  conditions: readonly Statement[],
  id: Statement = sql`s.id`,
): Statement | undefined {
  return whereAllOf(sql`transactions t WHERE t.tenant_id = ${tenantId} AND t.id = ${id}`, conditions);
}

/** All conditions of a filter besides its times, on the row of a transaction with an id of the lead. */
export function lookAt(tenantId: string, id: Statement, filter: TransactionFilter): Statement | undefined {
  return looked(tenantId, conditionsOf(filter, []), id);
}

function all(tenantId: string, range: IdRange): Lead {
  return (max) => sql`
    SELECT t.id FROM transactions t WHERE t.tenant_id = ${tenantId} ${newest(sql`t.id`, range, max)}`;
}

function withValue(tenantId: string, column: Statement, value: string, range: IdRange): Lead {
  return (max) => sql`
    SELECT t.id FROM transactions t WHERE t.tenant_id = ${tenantId} ${newestWith(column, sql`t.id`, value, range, max)}`;
}

/** Payments and deposits have keys of their own. Without the fence, the order by id could lead to the primary key. */
function withKey(tenantId: string, key: string, { least, end }: IdRange): Lead {
  const keys = [key, depositKeyOf(key)];
  return (max) => sql`
    SELECT k.id FROM (
      SELECT t.id FROM transactions t WHERE t.tenant_id = ${tenantId} AND t.idempotency_key = ANY(${keys}::text[]) OFFSET 0
    ) k WHERE k.id >= ${least} AND k.id < ${end} ORDER BY k.id DESC LIMIT ${max}`;
}

/** The newest of several leads. A transaction is in one state, so it is in one of them. */
function merged(leads: readonly Lead[]): Lead {
  const [first] = leads;
  if (first !== undefined && leads.length === 1) return first;
  return (max) => sql`
    SELECT w.id, w.state FROM (${joinStatements(
      leads.map((lead) => sql`(${lead(max)})`),
      " UNION ALL ",
    )}) w ORDER BY w.id DESC LIMIT ${max}`;
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
    SELECT e.subject_id AS id, e.state FROM events e
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
function hasState(states: readonly TransactionState[]): Statement {
  return sql`coalesce(
    (SELECT e.state FROM events e WHERE e.tenant_id = t.tenant_id AND e.subject_id = t.id ORDER BY e.version DESC LIMIT 1),
    'accepted') = ANY(${[...states]}::text[])`;
}
