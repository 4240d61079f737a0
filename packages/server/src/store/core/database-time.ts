import type { DatabaseTime } from "../../runtime/database/database-clock.js";
import type { Database } from "./database.js";
import { sql } from "./sql.js";

/** Reads the database's clock. Getting a connection and preparing the statement are not part of the round trip that is measured. */
export async function readDatabaseTime(
  database: Pick<Database, "session">,
  monotonicMs: () => number,
): Promise<DatabaseTime> {
  return await database.session(async (session) => {
    await session.query(readClock);
    const askedMs = monotonicMs();
    const [row] = await session.query<{ databaseMs: number }>(readClock);
    const answeredMs = monotonicMs();
    if (row === undefined) throw new Error("the database did not tell its time");
    return { databaseMs: row.databaseMs, askedMs, answeredMs };
  });
}

const readClock = sql`
  SELECT (extract(epoch FROM clock_timestamp()) * 1000)::double precision AS "databaseMs"
`;
