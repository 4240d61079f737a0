import type { Listed } from "../../../app/requests/listed.js";
import { idAt } from "../id-at.js";
import { joinStatements, type Statement, sql } from "../sql.js";

/** How many rows of its lead a page reads, and the place of the last of them. A lead of several indexes reads as many of each. */
const bounds = {
  wide: { all: sql`2000`, last: sql`1999` },
  narrow: { all: sql`500`, last: sql`499` },
};

export interface BoundedPage {
  /**
   * Rows with an id, newest first, that one index serves: no condition in it reads more rows than it returns. It must return at most the
   * given number of rows.
   */
  lead: (rowsMax: Statement) => Statement;
  /** Joins and conditions on the rows `s` of the lead, beginning with JOIN or WHERE; undefined if there is none. */
  rest: Statement | undefined;
  limit: number;
  /** Further columns of the lead that the page returns, beginning with a comma. */
  also?: Statement;
  /** `narrow` for a lead of more than two indexes. */
  bound?: keyof typeof bounds;
}

/**
 * The ids of a page, newest first. If the bound was reached before the page was full, a last row with `"isEnd"` has the id where the
 * next page continues. One statement, so that both are of one snapshot. Reading a subquery keeps its order; to order it again by id
 * alone would be a sort, which reads all of the lead, also if the first rows fill the page.
 */
export function selectBoundedPage({
  lead,
  rest,
  limit,
  also = sql``,
  bound = "wide",
}: BoundedPage): Statement {
  if (rest === undefined) return sql`SELECT s.id ${also}, false AS "isEnd" FROM (${lead(sql`${limit}`)}) s`;
  const { all, last } = bounds[bound];
  return sql`
    WITH found AS MATERIALIZED (
      SELECT s.id ${also} FROM (${lead(all)}) s ${rest} LIMIT ${limit}
    ), ending AS (
      SELECT s.id ${also} FROM (${lead(all)}) s WHERE (SELECT count(*) FROM found) < ${limit} OFFSET ${last}
    )
    SELECT s.id ${also}, false AS "isEnd" FROM found s UNION ALL SELECT s.id ${also}, true FROM ending s`;
}

/** The ids that a list is about: from `least`, and before `end`. */
export interface IdRange {
  least: string;
  end: string;
}

/** An id begins with its time, so a time is a bound on ids. */
export function idRange(
  { createdAfter, createdBefore }: { createdAfter?: Date; createdBefore?: Date },
  beforeId: string | undefined,
): IdRange {
  const ends = [beforeId ?? greatestId, createdBefore === undefined ? greatestId : idAt(createdBefore)];
  return {
    least: createdAfter === undefined ? leastId : idAt(createdAfter),
    end: ends.sort()[0] ?? greatestId,
  };
}

const leastId = "00000000-0000-0000-0000-000000000000";
const greatestId = "ffffffff-ffff-ffff-ffff-ffffffffffff";

/**
 * The rows whose column has a value, newest first, as the end of a lead. Only an index on (tenant, column, id) has this order: with
 * `column = value ORDER BY id`, PostgreSQL reads the primary key instead if it takes the value for a common one, and reads all rows of
 * the tenant if there is none.
 */
export function newestWith(
  column: Statement,
  id: Statement,
  value: string,
  { least, end }: IdRange,
  rowsMax: Statement,
): Statement {
  return sql`
    AND ROW(${column}, ${id}) >= ROW(${value}, ${least}) AND ROW(${column}, ${id}) < ROW(${value}, ${end})
    ORDER BY ${column} DESC, ${id} DESC LIMIT ${rowsMax}`;
}

/** The rows of an index on (tenant, id), newest first. */
export function newest(id: Statement, { least, end }: IdRange, rowsMax: Statement): Statement {
  return sql`AND ${id} >= ${least} AND ${id} < ${end} ORDER BY ${id} DESC LIMIT ${rowsMax}`;
}

/** Separates the row that says where the next page continues from the others. */
export function toListed<Row extends { id: string; isEnd: boolean }, Item>(
  rows: readonly Row[],
  read: (row: Omit<Row, "isEnd">) => Item,
): Listed<Item> {
  const items = rows.filter(({ isEnd }) => !isEnd).map(({ isEnd: _, ...row }) => read(row));
  return { items, scannedTo: rows.find(({ isEnd }) => isEnd)?.id };
}

/** Conditions as the rest of a page; undefined if there is none. */
export function whereAll(conditions: readonly Statement[]): Statement | undefined {
  return conditions.length === 0 ? undefined : sql`WHERE ${joinStatements(conditions, " AND ")}`;
}

/**
 * The same for conditions on the row of another table, which is looked up for each row of the lead. A subquery for one value never
 * becomes a join, so PostgreSQL cannot decide to read the other table first.
 */
export function whereAllOf(from: Statement, conditions: readonly Statement[]): Statement | undefined {
  if (conditions.length === 0) return undefined;
  return sql`WHERE (SELECT ${joinStatements(conditions, " AND ")} FROM ${from})`;
}
