import type { IntegrityKeys } from "../../../app/access/integrity-keys.js";
import type { StopFacts, StopSubject } from "../../../app/access/stop-in-any-case.js";
import { type KeyedQueryable, requireKeys, type Tx } from "../../core/database.js";
import { type Statement, sql } from "../../core/sql.js";
import { isRowAuthentic, macOfRow } from "../row-integrity.js";

/*
 * The rows of wallets, clients and tenants say whether one is frozen, disabled or suspended. A writer to the database can change them, also
 * back to an earlier state with the MAC of then. So each stop, and each end of one, is appended to stop_records too, from which the role of the
 * service cannot remove anything. The last record counts, and of two with the same number the one that stops. One that ends a stop must be
 * authentic; one that begins it need not be.
 *
 * A record always finds a place, whatever something else has inserted: its key contains a random id, and a trigger bounds the numbers.
 *
 * Transactions have records too: one that requires approvals a record that stops nothing, one whose cancellation a rail was asked for a record
 * that cancels, and one that has ended without being completed a record that stops it for good. All of these count, not only the last. So do
 * those of sessions that have ended before their time.
 */

/**
 * `forged`: something other than the service has recorded that the stop has ended. `begun`: it was just written as a whole, and what it cancels
 * is being cancelled; only `marketStopColumns` distinguishes that.
 */
type Standing = "free" | "stopped" | "forged" | "begun";

const lastRecord = (columns: Statement, tenantId: Statement, subjectId: Statement) => sql`(
  SELECT ${columns} FROM stop_records stop WHERE stop.tenant_id = ${tenantId} AND stop.subject_id = ${subjectId}
  ORDER BY stop.number DESC, stop.stopped DESC LIMIT 1)`;

/** Whether the last record stops the subject. Served by the primary key. */
export function isStopped(tenantId: Statement, subjectId: Statement): Statement {
  return sql`coalesce(${lastRecord(sql`stop.stopped`, tenantId, subjectId)}, false)`;
}

/** Of a subject whose stop never ends, such as a key that was revoked. Served by the primary key. */
export function wasEverStopped(tenantId: Statement, subjectId: Statement): Statement {
  return sql`EXISTS (
    SELECT FROM stop_records stop WHERE stop.tenant_id = ${tenantId} AND stop.subject_id = ${subjectId} AND stop.stopped)`;
}

const authenticity = sql`concat_ws(' ', stop.number, stop.key_id, encode(stop.mac, 'hex'))`;

/** As `readStanding` reads it; null for nearly all, which have never been stopped. Served by the primary key. */
export function lastStop(tenantId: Statement, subjectId: Statement): Statement {
  return lastRecord(sql`CASE WHEN stop.stopped THEN 'stopped' ELSE ${authenticity} END`, tenantId, subjectId);
}

/**
 * Of the row of a transaction: whether its client was stopped after it was requested, by a record that says that its payments are cancelled.
 * It is not paid, also if the client was enabled before it could be cancelled. Served by stop_records_cancelling.
 */
export function isCancelledByStop(row: Statement): Statement {
  return sql`EXISTS (
    SELECT FROM stop_records stop
    WHERE stop.cancels AND stop.tenant_id = ${row}.tenant_id AND stop.subject_id = ${row}.client_id AND stop.recorded_at > ${row}.created_at)`;
}

/** The last record that ends a stop, as `readStanding` reads it. Served by the primary key. */
export function lastEnd(tenantId: Statement, subjectId: Statement): Statement {
  return sql`(
    SELECT ${authenticity} FROM stop_records stop
    WHERE stop.tenant_id = ${tenantId} AND stop.subject_id = ${subjectId} AND NOT stop.stopped ORDER BY stop.number DESC LIMIT 1)`;
}

/** Whether the last record is a stop by the operator. Served by the primary key. */
export function isLastByOperator(tenantId: Statement, subjectId: Statement): Statement {
  return sql`coalesce(${lastRecord(sql`stop.by_operator`, tenantId, subjectId)}, false)`;
}

/** When the last record was written; the latest of its copies, if something else has made any. Served by the primary key. */
export function lastStopAt(tenantId: Statement, subjectId: Statement): Statement {
  const isOwn = sql`stop.tenant_id = ${tenantId} AND stop.subject_id = ${subjectId}`;
  return sql`(
    SELECT max(stop.recorded_at) FROM stop_records stop
    WHERE ${isOwn} AND stop.number = ${lastRecord(sql`stop.number`, tenantId, subjectId)})`;
}

/** Longer than orders need to leave a book after a stop that was written as a whole. */
const leavingFor = sql`interval '10 seconds'`;

/** The same; but of a stop that was written as a whole, and just now, with its MAC. A second one with its number says that its time has passed. */
function lastStopOfMarket(tenantId: Statement, subjectId: Statement): Statement {
  const isBegun = sql`stop.mac IS NOT NULL AND stop.recorded_at BETWEEN now() - ${leavingFor} AND now() + ${leavingFor} AND NOT EXISTS (
    SELECT FROM stop_records twin WHERE twin.tenant_id = stop.tenant_id AND twin.subject_id = stop.subject_id
      AND twin.number = stop.number AND twin.stopped AND twin.id <> stop.id)`;
  const record = sql`CASE WHEN NOT stop.stopped THEN ${authenticity} WHEN ${isBegun} THEN ${begun} || ${authenticity} ELSE 'stopped' END`;
  return lastRecord(record, tenantId, subjectId);
}

export function readStanding(keys: IntegrityKeys, subject: StopSubject, last: string | null): Standing {
  if (last === null) return "free";
  if (last === "stopped") return "stopped";
  const isBegun = last.startsWith(begun);
  const [number = "", keyId = null, mac = ""] = (isBegun ? last.slice(begun.length) : last).split(" ");
  const stored = { keyId, mac: Buffer.from(mac, "hex") };
  const isAuthentic = isRowAuthentic(keys, "stop record", fieldsOf(subject, number, isBegun), stored);
  if (isBegun) return isAuthentic ? "begun" : "stopped";
  return isAuthentic ? "free" : "forged";
}

const begun = "begun ";

export function isEndAuthentic(
  keys: IntegrityKeys,
  subject: StopSubject,
  { number, keyId, mac }: { number: string; keyId: string | null; mac: string | null },
): boolean {
  const stored = { keyId, mac: mac === null ? null : Buffer.from(mac, "hex") };
  return isRowAuthentic(keys, "stop record", fieldsOf(subject, number, false), stored);
}

/** What may stop a payment or an order. */
export interface StopColumns {
  walletStop: string | null;
  clientStop: string | null;
  tenantStop: string | null;
}

/** Of the row of a transaction or an order. Served by the primary key. */
export function stopColumns(row: Statement, walletId: Statement, last = lastStop): Statement {
  const tenantId = sql`${row}.tenant_id`;
  return sql`${last(tenantId, walletId)} AS "walletStop", ${last(tenantId, sql`${row}.client_id`)} AS "clientStop",
    ${last(tenantId, tenantId)} AS "tenantStop"`;
}

/**
 * Of the row of an order that is matched. A stop that was just written as a whole is left to the cancellations that it has requested: an order
 * that trades before they are executed is in the moment before the stop is answered.
 */
export function marketStopColumns(row: Statement): Statement {
  return stopColumns(row, sql`${row}.wallet_id`, lastStopOfMarket);
}

export interface Stops {
  isFrozen: boolean;
  /** Its client is disabled, or its tenant suspended. */
  isHeld: boolean;
  isForged: boolean;
}

const noStops: Stops = { isFrozen: false, isHeld: false, isForged: false };

export function readStops(
  keys: IntegrityKeys,
  { tenantId, walletId, clientId }: { tenantId: string; walletId: string; clientId: string | null },
  { walletStop, clientStop, tenantStop }: StopColumns,
): Stops {
  if (walletStop === null && clientStop === null && tenantStop === null) return noStops;
  const wallet = readStanding(keys, { tenantId, subjectId: walletId }, walletStop);
  const client = readStanding(keys, { tenantId, subjectId: clientId ?? "" }, clientStop);
  const tenant = readStanding(keys, { tenantId, subjectId: tenantId }, tenantStop);
  return {
    isFrozen: wallet === "stopped",
    isHeld: client === "stopped" || tenant === "stopped",
    isForged: wallet === "forged" || client === "forged" || tenant === "forged",
  };
}

/** That of one subject, whose row the caller has locked. Served by the primary key. */
export async function findStanding(source: KeyedQueryable, subject: StopSubject): Promise<Standing> {
  const { tenantId, subjectId } = subject;
  const [row] = await source.query<{ last: string | null }>(sql`
    SELECT ${lastStop(sql`${tenantId}::uuid`, sql`${subjectId}::uuid`)} AS last
  `);
  return readStanding(requireKeys(source), subject, row?.last ?? null);
}

/** The number after the last one of a subject; the last number that there is, if that is taken. Served by the primary key. */
export const nextNumber = (tenantId: Statement, subjectId: Statement) => sql`
  1 + least(9223372036854775806, coalesce((
    SELECT max(s.number) FROM stop_records s WHERE s.tenant_id = ${tenantId} AND s.subject_id = ${subjectId}), 0))`;

/**
 * Records that a subject is stopped, or no longer. The caller has locked its row. `at` is the database's time if left out, and `known` the
 * next number.
 */
export async function recordStop(
  tx: Tx,
  subject: StopSubject,
  isStop: boolean,
  at?: Date,
  { byOperator = false, cancelsPayments = false, known }: StopFacts & { known?: string | undefined } = {},
): Promise<void> {
  const { tenantId, subjectId } = subject;
  const number = known ?? (await findNextNumber(tx, subject));
  const { keyId, mac } = macOfRow(requireKeys(tx), "stop record", fieldsOf(subject, number, isStop));
  tx.send(sql`
    INSERT INTO stop_records (tenant_id, subject_id, number, stopped, recorded_at, cancels, by_operator, key_id, mac)
    VALUES (${tenantId}, ${subjectId}, ${number}, ${isStop}, ${at ?? sql`now()`}, ${isStop && cancelsPayments}, ${isStop && byOperator},
      ${keyId}, ${mac})
  `);
}

async function findNextNumber(tx: Tx, { tenantId, subjectId }: StopSubject): Promise<string> {
  const [row] = await tx.query<{ number: string }>(
    sql`SELECT ${nextNumber(sql`${tenantId}::uuid`, sql`${subjectId}::uuid`)} AS number`,
  );
  return row?.number ?? "1";
}

/** The stop alone, in one statement that locks no row and needs no MAC. */
export function insertStop(
  { tenantId, subjectId }: StopSubject,
  { cancelsPayments = false, byOperator = false }: StopFacts = {},
): Statement {
  const number = nextNumber(sql`${tenantId}::uuid`, sql`${subjectId}::uuid`);
  return sql`
    INSERT INTO stop_records (tenant_id, subject_id, number, stopped, recorded_at, cancels, by_operator)
    SELECT ${tenantId}, ${subjectId}, ${number}, true, now(), ${cancelsPayments}::boolean, ${byOperator}::boolean
  `;
}

/**
 * Says of a subject that is stopped that what it had in a book should have left it, and must not trade. With the number of the stop, so that
 * whatever ends that ends this too. Served by the primary key.
 */
export function insertOverdueStop({ tenantId, subjectId }: StopSubject): Statement {
  return sql`
    INSERT INTO stop_records (tenant_id, subject_id, number, stopped, recorded_at, cancels, by_operator)
    SELECT last.tenant_id, last.subject_id, last.number, true, last.recorded_at, false, last.by_operator
    FROM (
      SELECT stop.* FROM stop_records stop WHERE stop.tenant_id = ${tenantId} AND stop.subject_id = ${subjectId}
      ORDER BY stop.number DESC, stop.stopped DESC LIMIT 1) AS last
    WHERE last.stopped
  `;
}

function fieldsOf({ tenantId, subjectId }: StopSubject, number: string, isStop: boolean): string[] {
  return ["stop record", tenantId, subjectId, number, isStop ? "stopped" : "ended"];
}

/** Of the row of a transaction or a session: true if it has ended, false if it requires approvals, null if neither is recorded. Served by the primary key. */
export function hasEnded(row: Statement): Statement {
  return sql`(
    SELECT bool_or(stop.stopped) FROM stop_records stop
    WHERE stop.tenant_id = ${row}.tenant_id AND stop.subject_id = ${row}.id AND (stop.stopped OR NOT stop.cancels))`;
}

/** Whether its rail was asked to cancel a transaction. Served by stop_records_cancelling. */
export function isCancelRecorded(tenantId: Statement, transactionId: Statement): Statement {
  return sql`EXISTS (
    SELECT FROM stop_records stop WHERE stop.cancels AND stop.tenant_id = ${tenantId} AND stop.subject_id = ${transactionId})`;
}

/**
 * Records once that rails are asked to cancel transactions, whose rows are locked. They may end as completed all the same. `given` has their
 * `tenant_id` and `id`.
 */
export function insertCancelRequests(given: Statement): Statement {
  const [tenantId, id] = [sql`given.tenant_id`, sql`given.id`];
  return sql`
    INSERT INTO stop_records (tenant_id, subject_id, number, stopped, recorded_at, cancels)
    SELECT ${tenantId}, ${id}, ${nextNumber(tenantId, id)}, false, now(), true
    FROM ${given} WHERE NOT ${isCancelRecorded(tenantId, id)}`;
}

/** Records which transactions or sessions have ended, and which transactions require approvals. Their rows are locked. */
export function recordEnds(tx: Tx, ends: readonly { tenantId: string; id: string; isEnd: boolean }[]): void {
  if (ends.length === 0) return;
  tx.send(sql`
    INSERT INTO stop_records (tenant_id, subject_id, number, stopped, recorded_at)
    SELECT given.tenant_id, given.id, ${nextNumber(sql`given.tenant_id`, sql`given.id`)}, given.stopped, now()
    FROM unnest(${ends.map(({ tenantId }) => tenantId)}::uuid[], ${ends.map(({ id }) => id)}::uuid[],
      ${ends.map(({ isEnd }) => isEnd)}::boolean[]) AS given (tenant_id, id, stopped)
  `);
}
