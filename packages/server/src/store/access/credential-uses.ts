import type { CredentialUse } from "../../app/clients/credential-uses.js";
import type { Database } from "../core/database.js";
import { sql } from "../core/sql.js";

/** Served by the primary keys. Two processes can write out of order, so a later time stays. */
export async function writeCredentialUses(database: Database, uses: readonly CredentialUse[]): Promise<void> {
  const tables = { secret: sql`client_secrets`, key: sql`client_keys` };
  for (const kind of ["secret", "key"] as const) {
    // In the order of their ids, so that two processes do not deadlock.
    const own = uses.filter((use) => use.kind === kind).sort((a, b) => (a.id < b.id ? -1 : 1));
    if (own.length === 0) continue;
    await database.query(sql`
      UPDATE ${tables[kind]} AS credential SET last_used_at = greatest(last_used_at, used.at)
      FROM unnest(${own.map(({ id }) => id)}::uuid[], ${own.map(({ usedAt }) => usedAt)}::timestamptz[]) AS used (id, at)
      WHERE credential.id = used.id
    `);
  }
}
