import { randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type AuditDraft, describeAct } from "../../../src/app/audit/audit-entry.js";
import { createIntegrityKeys } from "../../../src/credentials/integrity-keys.js";
import { createKeyring } from "../../../src/credentials/keyring.js";
import { createSealing } from "../../../src/credentials/sealing.js";
import { freePort } from "../../../src/embedded/free-port.js";
import { appendAudit, createAuditStore } from "../../../src/store/access/audit.js";
import { type Database, openDatabase, withKeys } from "../../../src/store/core/database.js";
import { OutcomeUnknownError } from "../../../src/store/core/database-unavailable-error.js";
import { migrate } from "../../../src/store/core/schema/migrate.js";
import { readMigrations } from "../../../src/store/core/schema/migrations.js";
import { sql } from "../../../src/store/core/sql.js";
import { createLostCommitProxy } from "../../harness/database/lost-commit-proxy.js";
import { eventually } from "../../harness/eventually.js";
import { createTemporaryFolder } from "../../harness/temporary-folder.js";
import { createPostgresServer, type PostgresServer } from "../failover/postgres-server.js";

const keys = createIntegrityKeys(createSealing(createKeyring([Buffer.alloc(32, 7)])));

describe("an audit log after a crash of PostgreSQL", () => {
  const folder = createTemporaryFolder("audit-after-crash");
  let server: PostgresServer;
  const opened: { close: () => Promise<void> }[] = [];
  beforeAll(async () => {
    server = createPostgresServer(join(folder, "postgres"), await freePort());
    server.initialise();
    // Nothing but a COMMIT flushes the log at the wrong moment, so what was not committed leaves no trace.
    server.configure({
      wal_writer_delay: "10s",
      checkpoint_timeout: "1h",
      wal_level: "minimal",
      max_wal_senders: "0",
    });
    await server.start();
    const database = openDatabase({ url: server.url, connectionsMax: 2 });
    await migrate(database, readMigrations());
    await database.close();
  });
  afterEach(async () => {
    for (const one of opened.splice(0).reverse()) await one.close();
  });
  afterAll(async () => {
    await server?.kill();
    rmSync(folder, { recursive: true, force: true });
  });

  const open = (url = server.url) => {
    const database = withKeys(openDatabase({ url, connectionsMax: 3 }), keys);
    opened.push(database);
    return { database, ...createAuditStore(database) };
  };
  const draft = (tenantId: string, object: string, action = "client.create"): AuditDraft =>
    describeAct({ by: "operator", tenantId }, action, object, new Date());
  const begin = async ({ append }: ReturnType<typeof open>) => {
    const tenantId = randomUUID();
    await append([draft(tenantId, "first", "tenant.create")]);
    return tenantId;
  };
  const read = async ({ list }: ReturnType<typeof open>, tenantId: string) =>
    (await list(tenantId, 10, undefined))
      .map(({ number, action, object, code }) => [Number(number), action, object, code])
      .reverse();
  /** As the renewal of a lease does. Returns the id of its SQL transaction. */
  const useId = async (database: Database): Promise<string> => {
    const ask = () => database.query<{ id: string }>(sql`SELECT pg_current_xact_id()::text AS id`);
    const [row] = await eventually(
      () => ask().catch(() => []),
      ({ length }) => length === 1,
    );
    return row?.id ?? "";
  };
  const crashes: [string, (pid: number) => Promise<unknown>][] = [
    ["the server", () => server.kill().then(server.start)],
    // The server stays, and ends its other processes: it was started when it was before.
    ["one of its processes", async (pid) => process.kill(pid, "SIGKILL")],
  ];

  it.each(crashes)(
    "says of no entry that it was removed if its COMMIT was lost with %s, and its SQL transaction's id was used again",
    async (_, crash) => {
      const known = open();
      const tenantId = await begin(known);
      let lost = "";
      let crashed: Promise<unknown> | undefined;
      await expect(
        known.database.transaction(async (tx) => {
          await appendAudit(tx, [draft(tenantId, "never committed")]);
          const [row] = await tx.query<{ id: string; pid: number }>(
            sql`SELECT pg_current_xact_id()::text AS id, pg_backend_pid() AS pid`,
          );
          lost = row?.id ?? "";
          crashed = crash(row?.pid ?? 0);
          // Ends with the connection.
          await sleep(200);
        }),
      ).rejects.toThrow(OutcomeUnknownError);
      await crashed;
      const used = [await useId(known.database), await useId(known.database)];
      expect(used).toContain(lost);
      await known.append([draft(tenantId, "later")]);
      expect(await read(known, tenantId)).toEqual([
        [1, "tenant.create", "first", null],
        [2, "client.create", "later", null],
      ]);
    },
  );

  it.each(crashes)("still has an entry whose answer was lost before the crash of %s", async (_, crash) => {
    const direct = open();
    const tenantId = await begin(direct);
    const proxy = await createLostCommitProxy(server.url);
    opened.push(proxy);
    const known = open(proxy.url);
    proxy.loseNext("audit_heads", true);
    await expect(known.append([draft(tenantId, "unanswered")])).rejects.toThrow(OutcomeUnknownError);
    const [row] = await direct.database.query<{ pid: number }>(sql`SELECT pg_backend_pid() AS pid`);
    await eventually(
      () => read(direct, tenantId),
      ({ length }) => length === 2,
    );
    await crash(row?.pid ?? 0);
    await useId(known.database);
    const inDoubt = known.database.transaction(async (tx) => {
      await appendAudit(tx, [draft(tenantId, "rolled back")]);
      expect(tx.entries.entriesInDoubt(tenantId)).toEqual([]);
      expect(tx.entries.lastEntry(tenantId)).toMatchObject({ at: 2 });
      throw new Error("rolled back");
    });
    await expect(inDoubt).rejects.toThrow("rolled back");
    await known.append([draft(tenantId, "later")]);
    expect((await read(known, tenantId)).map(([, , object]) => object)).toEqual([
      "first",
      "unanswered",
      "later",
    ]);
  });
});
