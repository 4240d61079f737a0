import type { OrderState } from "@bursar/domain";
import type { IntegrityKeys } from "../../app/access/integrity-keys.js";
import type { AcceptedOrder } from "../../app/markets/order.js";
import { isRowAuthentic, macOfRow, type RowMac } from "../access/row-integrity.js";
import type { Tx } from "../core/database.js";
import { locateRows } from "../core/rows/locate-rows.js";
import { type Statement, sql } from "../core/sql.js";

/*
 * A MAC in `orders` covers what an order may buy or sell, from its acceptance on. A MAC in `open_orders` covers that and how far the order is,
 * from its first event on. A writer to the database can change the rows, but what was changed is neither put into a book nor traded.
 *
 * An earlier row of the same order has an authentic MAC too. The events tell the two apart: the role of the service cannot remove one, so an
 * order whose row is older than its last event was put back, and so was a new order that has an event at all.
 */

export interface OrderKey {
  tenantId: string;
  id: string;
}

/** An open order as it is stored. What cannot be read because a row of it is missing is null. */
export interface StoredOrder extends OrderKey, RowMac {
  /** What was accepted, in one string. */
  content: string;
  needsJudgement: boolean;
  /** Whether the row of the open order says the same, or less. */
  isSame: boolean | null;
  /** Whether the row says that nothing has happened to the order yet, other than its admission. */
  isUntouched: boolean | null;
  /** How far it is, in one string, and the MAC of both strings. */
  progress: string;
  progressKeyId: string | null;
  progressMac: Uint8Array | null;
  version: number | null;
}

/** With its last event, null if there is none. */
export interface EvidencedOrder extends StoredOrder {
  lastVersion: number | null;
}

/** Of the row `o` of an order. No field of one that the service has accepted has a space in it, so no other fields make the same string. */
const content = sql`concat_ws(' ', coalesce(o.client_id::text, '-'), o.market, o.wallet_id, o.side, o.type, coalesce(o.time_in_force, '-'),
  o.self_trade, coalesce(o.price::text, '-'), coalesce(o.size::text, '-'), coalesce(o.quote_size::text, '-'))`;

function contentOf(order: AcceptedOrder): string {
  const { clientId, market, walletId, side, type, timeInForce, selfTrade, price, size, quoteSize } = order;
  return `${clientId} ${market} ${walletId} ${side} ${type} ${timeInForce ?? "-"} ${selfTrade} ${price ?? "-"} ${size ?? "-"} ${quoteSize ?? "-"}`;
}

/** Of the row `p` of an open order. */
const progress = sql`concat_ws(' ', coalesce(p.sequence::text, '-'), p.state, p.version, coalesce(p.size::text, '-'), p.filled,
  p.quote_filled, p.fee, p.held)`;

export interface OrderProgressRow {
  state: OrderState;
  version: number;
  size: number | null;
  filled: number;
  quoteFilled: bigint;
  fee: bigint;
  held: bigint;
}

function progressOf(number: string, { state, version, size, ...row }: OrderProgressRow): string {
  return `${number} ${state} ${version} ${size ?? "-"} ${row.filled} ${row.quoteFilled} ${row.fee} ${row.held}`;
}

/** Of the row `o` of an order and the row `p` of the same order while it is open. */
export const storedColumns: Statement = sql`
  ${content} AS content, o.key_id AS "keyId", o.mac, p.needs_judgement AS "needsJudgement",
  p.market = o.market AND p.wallet_id = o.wallet_id AND p.side = o.side AND p.price IS NOT DISTINCT FROM o.price
    AND (p.size IS NOT DISTINCT FROM o.size OR p.size < o.size) AND p.filled >= 0 AS "isSame",
  p.state = 'pending' AND p.version = 1 AND p.size IS NOT DISTINCT FROM o.size AND p.filled = 0 AND p.quote_filled = 0 AND p.fee = 0
    AND (p.sequence IS NOT NULL OR p.held = 0) AS "isUntouched",
  ${progress} AS progress, p.key_id AS "progressKeyId", p.mac AS "progressMac", p.version`;

/** The version of the last event of the order `given`. Served by events_by_subject. */
export function lastVersion(given: Statement): Statement {
  return sql`(
    SELECT e.version FROM events e WHERE e.tenant_id = ${given}.tenant_id AND e.subject_id = ${given}.id
    ORDER BY e.version DESC LIMIT 1) AS "lastVersion"`;
}

/** That of an order that is about to be stored, as hexadecimal digits. */
export function macOfOrder(keys: IntegrityKeys, order: AcceptedOrder): string {
  const fields = fieldsOf(order, contentOf(order), order.needsJudgement);
  return macOfRow(keys, "order", fields).mac.toString("hex");
}

/** That of the row of an open order. The caller knows its content and its number from when it locked the row. */
export function macOfProgress(
  keys: IntegrityKeys,
  key: OrderKey,
  locked: LockedOrder,
  row: OrderProgressRow,
): string {
  const fields = progressFields(key, locked.content, progressOf(locked.number, row));
  return macOfRow(keys, "order", fields).mac.toString("hex");
}

/** What does not change of an order that rests. */
export interface LockedOrder {
  content: string;
  number: string;
}

/** Whether it is as it was accepted. One that was allowed then can be judged later; never the other way round. */
export function isAccepted(keys: IntegrityKeys, row: StoredOrder): boolean {
  const isAuthentic = (needsJudgement: boolean) =>
    isRowAuthentic(keys, "order", fieldsOf(row, row.content, needsJudgement), row);
  return (
    row.isSame === true &&
    row.isUntouched === true &&
    (isAuthentic(row.needsJudgement) || (row.needsJudgement && isAuthentic(false)))
  );
}

/** Whether it is as the service has left it at this version. */
export function isProgressAuthentic(keys: IntegrityKeys, row: StoredOrder): boolean {
  const { content: accepted, progressKeyId: keyId, progressMac: mac } = row;
  const fields = progressFields(row, accepted, row.progress);
  return row.isSame === true && isRowAuthentic(keys, "order", fields, { keyId, mac });
}

/** Whether an event says that more has happened to it. One that was never placed has no event. */
export function hasMoved({
  lastVersion: last,
  version,
  isUntouched,
  progress: reached,
}: EvidencedOrder): boolean {
  const isPlaced = isUntouched !== true && !reached.startsWith("- ");
  return last !== null && (!isPlaced || last > (version ?? 0));
}

function fieldsOf({ tenantId, id }: OrderKey, text: string, needsJudgement: boolean): string[] {
  return ["order", tenantId, id, text, needsJudgement ? "judge" : "allowed"];
}

function progressFields({ tenantId, id }: OrderKey, accepted: string, reached: string): string[] {
  return ["order progress", tenantId, id, accepted, reached];
}

/** Of the row `p` of an open order: it waits for the operator. */
export const isSetAside = sql`coalesce(p.retry_at = 'infinity', false)`;

const changedFault =
  "The row of the order was changed in the database by something other than Bursar, so it is not in the book. Restore the row from a backup, retry it, and restart the process that runs the market.";
const movedFault =
  "The row of the order in open_orders is older than its events: something other than Bursar has put it there. It does not trade. If the order has ended, delete the row; otherwise restore it from a backup, retry it, and restart the process that runs the market.";

/** Sets orders aside whose rows were changed. No claim finds them before the operator retries them. Served by the primary key. */
export function setAside(tx: Tx, orders: readonly EvidencedOrder[]): void {
  if (orders.length === 0) return;
  const faults = orders.map((order) => (hasMoved(order) ? movedFault : changedFault));
  setAsideWith(tx, orders, faults);
}

export function setAsideWith(tx: Tx, orders: readonly OrderKey[], faults: readonly string[]): void {
  tx.send(sql`
    UPDATE open_orders p SET attempts = least(p.attempts + 1, 32767), last_error = given.fault, retry_at = 'infinity'
    FROM ${locateRows(
      sql`open_orders`,
      sql`unnest(${orders.map(({ tenantId }) => tenantId)}::uuid[], ${orders.map(({ id }) => id)}::uuid[], ${[...faults]}::text[])
        AS given (tenant_id, id, fault)`,
    )} AS given WHERE p.ctid = given.place
  `);
}

/** Authenticates again, with the current key, what an authentic row says; undefined if it is not or need not be. */
export function resealed(
  keys: IntegrityKeys,
  row: StoredOrder,
): { accepted?: { keyId: string; mac: Buffer }; progress?: { keyId: string; mac: Buffer } } {
  const isJudged = isRowAuthentic(keys, "order", fieldsOf(row, row.content, true), row);
  const isAuthentic = isJudged || isRowAuthentic(keys, "order", fieldsOf(row, row.content, false), row);
  return {
    ...(row.keyId !== keys.currentId && isAuthentic
      ? { accepted: macOfRow(keys, "order", fieldsOf(row, row.content, isJudged)) }
      : {}),
    ...(row.progressKeyId !== keys.currentId && isProgressAuthentic(keys, row)
      ? { progress: macOfRow(keys, "order", progressFields(row, row.content, row.progress)) }
      : {}),
  };
}
