import pg from "pg";
import type { DatabaseReading } from "../../../runtime/database/database-identity.js";

/** A server that takes writes. */
export type ServerTimeline = Pick<DatabaseReading, "cluster" | "timeline">;

const timeoutMs = 3000;
/** How long others are waited for once a server has answered that takes writes: one whose machine is gone does not answer at all. */
const graceMs = 1000;

interface Row {
  setting: string;
  cluster: string | null;
  timeline: string | null;
}

/** Looks at all servers at once. Returns undefined for those that do not answer or take no writes. */
export async function probeServers(urls: readonly string[]): Promise<(ServerTimeline | undefined)[]> {
  const found: (ServerTimeline | undefined)[] = urls.map(() => undefined);
  let timer: NodeJS.Timeout | undefined;
  const answered = new Promise<void>((resolve) => {
    const probeOne = async (url: string, index: number) => {
      found[index] = await probe(url).catch(() => undefined);
      if (found[index] !== undefined) timer ??= setTimeout(resolve, graceMs);
    };
    void Promise.all(urls.map(probeOne)).then(() => resolve());
  });
  await answered;
  clearTimeout(timer);
  return [...found];
}

async function probe(url: string): Promise<ServerTimeline | undefined> {
  const client = new pg.Client({
    connectionString: url,
    application_name: "bursar",
    connectionTimeoutMillis: timeoutMs,
    query_timeout: timeoutMs,
  });
  client.on("error", () => undefined);
  try {
    await client.connect();
    const [row] = await readTimeline(client);
    if (row?.setting !== "off") return undefined;
    return { cluster: row.cluster ?? undefined, timeline: row.timeline ?? undefined };
  } finally {
    void client.end().catch(() => undefined);
  }
}

/** Some hosted servers do not show their timeline. */
async function readTimeline(client: pg.Client): Promise<Row[]> {
  const setting = "current_setting('transaction_read_only') AS setting";
  const full = client.query<Row>(`
    SELECT ${setting}, (SELECT system_identifier::text FROM pg_catalog.pg_control_system()) AS cluster,
      CASE WHEN NOT pg_catalog.pg_is_in_recovery()
        THEN substr(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_flush_lsn()), 1, 8) END AS timeline`);
  const { rows } = await full.catch(() =>
    client.query<Row>(`SELECT ${setting}, NULL AS cluster, NULL AS timeline`),
  );
  return rows;
}
