import pg from "pg";
import type { Session } from "../../../src/store/core/database.js";
import { Statement } from "../../../src/store/core/sql.js";

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

/** Prepares a statement under a name and plans it now, by running it once; whatever that does is rolled back. */
export async function prepareNow(session: Session, name: string, statement: Statement): Promise<void> {
  await session.script(`BEGIN; PREPARE ${name} AS ${statement.text}`);
  await session.script(`EXECUTE ${name}${listOf(statement)}`).catch(() => undefined);
  await session.script("ROLLBACK");
}

/** The plan that was made when the statement was prepared, with what it reads now. */
export async function explainPrepared(
  session: Session,
  name: string,
  statement: Statement,
): Promise<PlanNode | undefined> {
  await session.script("BEGIN");
  try {
    return await planOf(session, "ANALYZE, BUFFERS, ", statement, name);
  } catch (error) {
    if ((error as pg.DatabaseError).code !== uniqueViolation) throw error;
    return undefined;
  } finally {
    await session.script("ROLLBACK");
  }
}

function listOf({ values }: Statement): string {
  return values.length === 0 ? "" : `(${values.map(literal).join(", ")})`;
}

async function planOf(
  session: Session,
  options: string,
  statement: Statement,
  name = "explained",
): Promise<PlanNode> {
  const [row] = await session.query<{ "QUERY PLAN": [{ Plan: PlanNode }] }>(
    new Statement(`EXPLAIN (${options}FORMAT JSON) EXECUTE ${name}${listOf(statement)}`, []),
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

/** A node of a plan, as EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) writes it. Without ANALYZE the actual figures are missing. */
export interface PlanNode {
  "Node Type": string;
  "Relation Name"?: string;
  "Index Name"?: string;
  "Actual Rows"?: number;
  "Actual Loops"?: number;
  "Rows Removed by Filter"?: number;
  "Rows Removed by Join Filter"?: number;
  "Rows Removed by Index Recheck"?: number;
  "Shared Hit Blocks"?: number;
  "Shared Read Blocks"?: number;
  "Parent Relationship"?: string;
  Plans?: PlanNode[];
}

/** Tables of a handful of rows that are read as a whole, whatever else grows. */
const smallTables = new Set(["token_keys"]);

/** PostgreSQL's own tables have a row for each of ours. */
function isSmall(table: string): boolean {
  return smallTables.has(table) || table.startsWith("pg_");
}

/** No page and no batch is larger. */
const sortedRowsMax = 500;
/** What a scan may read and throw away: a little, and in proportion to what it gives. */
const wastedRowsMax = 200;
const wastedPerRowMax = 20;
/** Going down an index and fetching a row touches a handful of blocks. */
const idleBlocksMax = 40;
const blocksPerRowMax = 12;

/**
 * What is wrong with a plan; each a sentence. `freeRows` may be read from a table without being wanted, as by a page that reads a bounded
 * number of rows.
 */
export function findPlanFaults(root: PlanNode, freeRows = 0): string[] {
  return [...nodesOf(root)].flatMap((node) => [
    ...scanFaults(node),
    ...wasteFaults(node, rowsOf(root), freeRows),
    ...sortFaults(node, freeRows),
  ]);
}

function scanFaults(node: PlanNode): string[] {
  const { "Relation Name": table = "" } = node;
  if (isSmall(table)) return [];
  return node["Node Type"] === "Seq Scan" ? [`reads ${table} as a whole`] : [];
}

function wasteFaults(node: PlanNode, answered: number, freeRows: number): string[] {
  const table = node["Relation Name"];
  if (isSmall(table ?? "") || node["Node Type"] === "Function Scan") return [];
  const loops = node["Actual Loops"] ?? 0;
  const rows = rowsOf(node);
  const wasted =
    loops *
    ((node["Rows Removed by Filter"] ?? 0) +
      (node["Rows Removed by Join Filter"] ?? 0) +
      (node["Rows Removed by Index Recheck"] ?? 0));
  const where = `${node["Node Type"]} on ${node["Index Name"] ?? table ?? "its inputs"}`;
  const faults: string[] = [];
  if (wasted > freeRows + wastedRowsMax + wastedPerRowMax * rows)
    faults.push(`${where} reads ${wasted} rows that it does not want, to give ${rows}`);
  if (table !== undefined && rows > freeRows + wastedRowsMax + wastedPerRowMax * answered)
    faults.push(`${where} reads ${rows} rows, and the answer has ${answered}`);
  // An index whose first column is not given is read as a whole, and only the blocks tell.
  const blocks = (node["Shared Hit Blocks"] ?? 0) + (node["Shared Read Blocks"] ?? 0);
  // A list of places is made by another part of the plan, whose blocks are counted here as well.
  const isScan = /^(?!Tid).*Scan$/.test(node["Node Type"]) && node.Plans === undefined && table !== undefined;
  if (isScan && blocks > idleBlocksMax + blocksPerRowMax * Math.max(rows + wasted, loops))
    faults.push(`${where} touches ${blocks} blocks for ${rows} rows`);
  return faults;
}

function sortFaults(node: PlanNode, freeRows: number): string[] {
  if (!/Sort$/.test(node["Node Type"])) return [];
  const input = node.Plans?.find((child) => child["Parent Relationship"] === "Outer");
  const sorted = input?.["Actual Rows"] ?? 0;
  return sorted > sortedRowsMax + freeRows ? [`sorts ${sorted} rows`] : [];
}

function rowsOf(node: PlanNode): number {
  return Math.round((node["Actual Rows"] ?? 0) * (node["Actual Loops"] ?? 0));
}

function* nodesOf(node: PlanNode): Generator<PlanNode> {
  yield node;
  for (const child of node.Plans ?? []) yield* nodesOf(child);
}
