import type { StopSubject } from "../../../app/access/stop-in-any-case.js";
import { type Database, requireKeys, type Tx } from "../../core/database.js";
import { sql } from "../../core/sql.js";
import { findStanding, isEndAuthentic, recordStop } from "./stop-records.js";

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
  const clients = await tx.query(sql`SELECT FROM clients WHERE id = ${subjectId} FOR NO KEY UPDATE`);
  const tenants = await tx.query(sql`SELECT FROM tenants WHERE id = ${subjectId} FOR NO KEY UPDATE`);
  const [last] = await tx.query<{ number: string; stopped: boolean }>(sql`
    SELECT s.number, s.stopped FROM stop_records s
    WHERE s.tenant_id = ${tenantId} AND s.subject_id = ${subjectId} ORDER BY s.number DESC, s.stopped DESC LIMIT 1
  `);
  const isLast = ({ number }: OldEnd) => last?.stopped === false && last.number === number;
  // Of a wallet, nothing asks for the past.
  const hasPast = clients.length + tenants.length > 0;
  const ends = (await listOldEnds(tx, subject)).filter((end) => hasPast || isLast(end));
  let hasWritten = false;
  for (const end of ends) {
    if (isLast(end) && (await findStanding(tx, subject)) !== "free") continue;
    // With its time: tokens that were issued since then still count. One before the last keeps its number, and so its place.
    await recordStop(tx, subject, false, end.recordedAt, { known: isLast(end) ? undefined : end.number });
    hasWritten = true;
  }
  return hasWritten;
}

interface OldEnd {
  number: string;
  recordedAt: Date;
}

/** Those that no record with the current key repeats, by the same number or the next, with the latest time of each. Served by the primary key. */
async function listOldEnds(tx: Tx, subject: StopSubject): Promise<OldEnd[]> {
  const { tenantId, subjectId } = subject;
  const keys = requireKeys(tx);
  const rows = await tx.query<OldEnd & { keyId: string | null; mac: string }>(sql`
    SELECT s.number, s.recorded_at AS "recordedAt", s.key_id AS "keyId", encode(s.mac, 'hex') AS mac FROM stop_records s
    WHERE s.tenant_id = ${tenantId} AND s.subject_id = ${subjectId} AND NOT s.stopped AND s.mac IS NOT NULL
    ORDER BY s.number, s.recorded_at
  `);
  const authentic = rows.filter((row) => isEndAuthentic(keys, subject, row));
  const current = new Set(
    authentic.filter(({ keyId }) => keyId === keys.currentId).map(({ number }) => number),
  );
  const latest = new Map(authentic.map(({ number, recordedAt }) => [number, { number, recordedAt }]));
  return [...latest.values()].filter(
    ({ number }) => !current.has(number) && !current.has(`${BigInt(number) + 1n}`),
  );
}
