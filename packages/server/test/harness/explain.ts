import pg from "pg";
import type { Session } from "../../src/store/core/database.js";
import { Statement } from "../../src/store/core/sql.js";
import type { PlanNode } from "./plan-faults.js";

const uniqueViolation = "23505";

/**
 * The plan of a statement as the service runs it, prepared and generic, with what it has really read. It runs and is rolled back;
 * what cannot be written a second time is planned only. Statements that have no plan, such as locks, have none here either.
 */
export async function explain(session: Session, statement: Statement): Promise<PlanNode | undefined> {
  if (!/^\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\b/.test(statement.text)) return undefined;
  await session.script(`BEGIN; PREPARE explained AS ${statement.text}`);
  try {
    return await planOf(session, "ANALYZE, BUFFERS, ", statement);
  } catch (error) {
    if ((error as pg.DatabaseError).code !== uniqueViolation) throw error;
    await session.script("ROLLBACK; BEGIN");
    return await planOf(session, "", statement);
  } finally {
    await session.script("ROLLBACK; DEALLOCATE explained");
  }
}

async function planOf(session: Session, options: string, { values }: Statement): Promise<PlanNode> {
  const list = values.length === 0 ? "" : `(${values.map(literal).join(", ")})`;
  const [row] = await session.query<{ "QUERY PLAN": [{ Plan: PlanNode }] }>(
    new Statement(`EXPLAIN (${options}FORMAT JSON) EXECUTE explained${list}`, []),
  );
  if (row === undefined) throw new Error("EXPLAIN has no answer");
  return row["QUERY PLAN"][0].Plan;
}

/** EXECUTE takes no parameters of its own, so values are written out; PostgreSQL gives them the types of the statement. */
function literal(value: unknown): string {
  if (value === null || value === undefined) return "NULL";
  return pg.escapeLiteral(Array.isArray(value) ? `{${value.map(element).join(",")}}` : textOf(value));
}

function element(value: unknown): string {
  return value === null ? "NULL" : `"${textOf(value).replace(/["\\]/g, "\\$&")}"`;
}

function textOf(value: unknown): string {
  if (value instanceof Date) return value.toISOString();
  return Buffer.isBuffer(value) ? `\\x${value.toString("hex")}` : String(value);
}
