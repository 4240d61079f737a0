import { OperatorError } from "../../../operator-error.js";
import type { Database } from "../database.js";
import { sql } from "../sql.js";

const versionMin = 140_000;

/**
 * Bursar answers 202 when a transaction is on disk. With any of these settings off PostgreSQL may say "committed" and
 * forget, so Bursar does not start on such a database.
 */
const durabilitySettings = ["fsync", "full_page_writes", "synchronous_commit"] as const;

export async function checkDatabaseSettings(database: Database): Promise<void> {
  // A session of ours has commits on; the reset value is that of the role, the database or the URL.
  const rows = await database.query<{ name: string; setting: string }>(sql`
    SELECT name, reset_val AS setting FROM pg_catalog.pg_settings
    WHERE name = ANY(${["server_version", "server_version_num", ...durabilitySettings]})
  `);
  const settings = new Map(rows.map((row) => [row.name, row.setting]));
  if (Number(settings.get("server_version_num")) < versionMin) {
    throw new OperatorError(
      `The database is PostgreSQL ${settings.get("server_version")}: Bursar needs version 14 or newer.`,
    );
  }
  for (const name of durabilitySettings) {
    if (settings.get(name) === "off") {
      throw new OperatorError(
        `The database has ${name} = off, so what it has committed can be lost: set ${name} = on and start again.`,
      );
    }
  }
}
