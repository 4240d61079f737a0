import type { StopSubject } from "../../../app/access/stop-in-any-case.js";
import { type KeyedQueryable, requireKeys } from "../../core/database.js";
import { sql } from "../../core/sql.js";
import { lastEnd, nextNumber, readStanding } from "./stop-records.js";

interface OperatorStop {
  /** Whether the operator has stopped the subject, and nobody who may has ended that. */
  isByOperator: boolean;
  /**
   * For the record that ends the stop. With it, a stop that is recorded after this was read counts, also before the end is written: of two
   * records with one number the one that stops does.
   */
  nextNumber: string;
}

/**
 * Of a subject that is stopped, and whose row the caller has locked. Records of others, such as another stop, hide nothing: all of them since
 * the last end count, and an end that is not authentic ends nothing. Served by the primary key.
 */
export async function findOperatorStop(source: KeyedQueryable, subject: StopSubject): Promise<OperatorStop> {
  const tenantId = sql`${subject.tenantId}::uuid`;
  const subjectId = sql`${subject.subjectId}::uuid`;
  const [row] = await source.query<{ next: string; stop: string | null; end: string | null }>(sql`
    SELECT ${nextNumber(tenantId, subjectId)} AS next, ${lastEnd(tenantId, subjectId)} AS end,
      (SELECT max(s.number) FROM stop_records s
        WHERE s.tenant_id = ${tenantId} AND s.subject_id = ${subjectId} AND s.stopped AND s.by_operator) AS stop
  `);
  const { next = "1", stop = null, end = null } = row ?? {};
  const isEnded = () =>
    end !== null &&
    readStanding(requireKeys(source), subject, end) === "free" &&
    BigInt(end.split(" ")[0] ?? "") > BigInt(stop ?? "");
  return { isByOperator: stop !== null && !isEnded(), nextNumber: next };
}
