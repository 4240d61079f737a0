import type { StopSubject } from "../../../app/access/stop-in-any-case.js";
import { type Database, requireKeys, type Tx } from "../../core/database.js";
import { sql } from "../../core/sql.js";
import { findStanding, recordStop } from "./stop-records.js";

const leastId = "00000000-0000-0000-0000-000000000000";

/**
 * Ends of stops that another key authenticates are recorded again with the current one, unless one was forged; returns how many. Subject by
 * subject, because each is locked. Served by stop_records_released and the primary key.
 */
export async function resealStops(database: Database): Promise<number> {
  let written = 0;
  let after: StopSubject | undefined = { tenantId: leastId, subjectId: leastId };
  while (after !== undefined) {
    const { tenantId, subjectId }: StopSubject = after;
    const [next]: StopSubject[] = await database.query<StopSubject>(sql`
      SELECT s.tenant_id AS "tenantId", s.subject_id AS "subjectId" FROM stop_records s
      WHERE (s.tenant_id, s.subject_id) > (${tenantId}::uuid, ${subjectId}::uuid) AND NOT s.stopped AND s.mac IS NOT NULL
      ORDER BY s.tenant_id, s.subject_id LIMIT 1
    `);
    after = next;
    if (next !== undefined && (await database.transaction((tx) => resealStop(tx, next)))) written += 1;
  }
  return written;
}

async function resealStop(tx: Tx, subject: StopSubject): Promise<boolean> {
  const { tenantId, subjectId } = subject;
  // It is one of the three.
  tx.send(sql`SELECT FROM wallets WHERE tenant_id = ${tenantId} AND id = ${subjectId} FOR NO KEY UPDATE`);
  tx.send(sql`SELECT FROM clients WHERE id = ${subjectId} FOR NO KEY UPDATE`);
  tx.send(sql`SELECT FROM tenants WHERE id = ${subjectId} FOR NO KEY UPDATE`);
  const [last] = await tx.query<{ isOld: boolean; recordedAt: Date }>(sql`
    SELECT s.recorded_at AS "recordedAt", NOT s.stopped AND s.key_id IS DISTINCT FROM ${requireKeys(tx).currentId} AS "isOld" FROM stop_records s
    WHERE s.tenant_id = ${tenantId} AND s.subject_id = ${subjectId} ORDER BY s.number DESC, s.stopped DESC LIMIT 1
  `);
  if (last?.isOld !== true || (await findStanding(tx, subject)) !== "free") return false;
  // With its time: tokens that were issued since then still count.
  await recordStop(tx, subject, false, last.recordedAt);
  return true;
}
