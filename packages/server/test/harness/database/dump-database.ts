import pg from "pg";

/** Every row of every table of ours, as text; bytes are hexadecimal. */
export async function dumpDatabase(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    // A dump reads tables from end to end, which the service itself is never allowed to.
    await client.query("SET enable_seqscan = on");
    const tables = await client.query<{ name: string }>(
      "SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')",
    );
    const texts: string[] = [];
    for (const { name } of tables.rows) {
      const { rows } = await client.query<{ line: string }>(`SELECT t::text AS line FROM ${name} t`);
      texts.push(name, ...rows.map(({ line }) => line));
    }
    return texts.join("\n");
  } finally {
    await client.end();
  }
}
