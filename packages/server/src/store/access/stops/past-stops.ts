import type { IntegrityKeys } from "../../../app/access/integrity-keys.js";
import type { StopSubject } from "../../../app/access/stop-in-any-case.js";
import { type Statement, sql } from "../../core/sql.js";
import { isEndAuthentic } from "./stop-records.js";

/*
 * Whether a subject was stopped at a time in the past. Here the times of records decide too, which no MAC covers: a writer to the database can
 * copy the record that ends a stop, with an earlier time. The copy has the same number, because the MAC covers that, and the record itself
 * cannot be changed or removed. So an end counts from the latest of the times that authentic records with its number have.
 */

/** Records with one number that are read. The service has written one, and one more for each master key since then. */
const copiesMax = 16;

/** The record that counts at a time: one that stops, or those with one number that end a stop. */
export type StopAt = "stopped" | readonly RecordedEnd[];

interface RecordedEnd {
  number: string;
  keyId: string | null;
  mac: string | null;
  /** Whether its time is after the one in question. */
  isLater: boolean;
}

/**
 * As `readStandingAt` reads it; null for nearly all. In the millisecond of a stop the subject was not stopped yet, and in that of its end no
 * longer. As JSON, because a writer chooses the id of the key. Served by the primary key.
 */
export function stopAt(tenantId: Statement, subjectId: Statement, at: Statement): Statement {
  // The latest first: others do not hide the record that was copied.
  const ends = sql`(
    SELECT jsonb_agg(jsonb_build_object('number', copy.number::text, 'keyId', copy.key_id, 'mac', encode(copy.mac, 'hex'),
      'isLater', copy.recorded_at > ${at}))
    FROM (
      SELECT same.number, same.key_id, same.mac, same.recorded_at FROM stop_records same
      WHERE same.tenant_id = stop.tenant_id AND same.subject_id = stop.subject_id AND same.number = stop.number AND NOT same.stopped
      ORDER BY same.recorded_at DESC LIMIT ${copiesMax}) AS copy)`;
  return sql`(
    SELECT CASE WHEN stop.stopped THEN '"stopped"' ELSE ${ends} END FROM stop_records stop
    WHERE stop.tenant_id = ${tenantId} AND stop.subject_id = ${subjectId}
      AND (stop.recorded_at < ${at} OR (stop.recorded_at = ${at} AND NOT stop.stopped))
    ORDER BY stop.number DESC, stop.stopped DESC LIMIT 1)`;
}

/** `forged`: something other than the service has recorded that the stop had ended by then. */
export function readStandingAt(
  keys: IntegrityKeys,
  subject: StopSubject,
  found: StopAt | null,
): "free" | "stopped" | "forged" {
  if (found === null) return "free";
  if (found === "stopped") return "stopped";
  const authentic = found.filter((end) => isEndAuthentic(keys, subject, end));
  if (authentic.length === 0) return "forged";
  return authentic.some(({ isLater }) => isLater) ? "stopped" : "free";
}
