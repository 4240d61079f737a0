import { rmSync } from "node:fs";
import { readId } from "@bursar/protocol";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Database, openDatabase } from "../../../src/store/core/database.js";
import { sql } from "../../../src/store/core/sql.js";
import { eventually } from "../../harness/eventually.js";
import { startTestService, type TestService } from "../../harness/service/test-service.js";
import { createTemporaryFolder } from "../../harness/temporary-folder.js";
import { transactionsOf } from "../../harness/transactions/transactions-client.js";
import { type PostgresPair, startPostgresPair } from "./postgres-pair.js";
import type { PostgresServer } from "./postgres-server.js";

/** Nothing has stopped the old primary from coming back: it takes writes, and is the first server of the URL. */
describe("an old primary that comes back after a failover", () => {
  const folder = createTemporaryFolder("old-primary");
  let pair: PostgresPair;
  let database: Database;
  let service: TestService;
  beforeAll(async () => {
    pair = await startPostgresPair(folder);
    database = openDatabase({ url: pair.url, connectionsMax: 2 });
    const run = (script: string) => database.session((session) => session.script(script));
    service = await startTestService(
      {},
      {
        database: { ...database, url: pair.url, run, drop: database.close },
        masterKey: Buffer.alloc(32, 7),
        publicUrl: undefined,
      },
      // Not patient: what counts is that a server is refused, not how long it takes.
      openDatabase,
    );
  });
  afterAll(async () => {
    await service?.stop();
    await database?.close();
    await pair?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const status = async () => (await service.call("GET", "/readyz", undefined)).status;
  const untilServing = () => eventually(status, (value) => value === 200);

  it("is not used by a process that has worked on the later timeline, and is not chosen by a new one", async () => {
    const api = transactionsOf(service, await service.token(await service.createTenant("100")));
    const pay = async () => {
      const { status: answer, text, body } = await api.create({ reference: "r", asset: "USD", amount: "1" });
      if (answer !== 202) throw new Error(text);
      return await api.settled(body.id);
    };
    await pay();
    await pair.failOver();
    await untilServing();
    const paid = await eventually(
      () => pay().catch(() => undefined),
      (made) => made !== undefined,
    );
    const { body } = await api.send("GET", "/v1/events?limit=1");
    const [old, primary] = [pair.standby(), pair.primary()];
    await old.start();

    // Of two servers that take writes, a new process takes the one on the later timeline.
    const fresh = openDatabase({ url: pair.url, connectionsMax: 1 });
    const [reached] = await fresh.query<{ port: number }>(sql`SELECT inet_server_port() AS port`);
    expect(reached?.port).toBe(primary.port);
    await fresh.close();

    await primary.kill();
    await eventually(
      () => service.logLines.filter((line) => line.includes("A database server on an earlier timeline")),
      (lines) => lines.length > 0,
    );
    expect(await status()).toBe(503);
    const refused = await api.create({ reference: "r", asset: "USD", amount: "1" });
    expect(refused.status).toBe(503);
    const [line] = service.logLines.filter((one) => one.includes("on an earlier timeline"));
    expect(JSON.parse(line ?? "")).toMatchObject({ timeline: "00000001", seen_timeline: "00000002" });
    expect(await old.ask("SELECT FROM database_epochs")).toHaveLength(1);

    await primary.start();
    await untilServing();
    expect(
      await eventually(
        () => api.read(paid?.id ?? ""),
        ({ status: answer }) => answer !== 503,
      ),
    ).toMatchObject({
      status: 200,
    });
    expect((await api.send("GET", "/v1/events?limit=1")).body).toMatchObject({
      epoch: (body as unknown as { epoch: string }).epoch,
    });
  });

  it("is not missed when its machine is set up again: an empty server of another cluster is passed over", async () => {
    const api = transactionsOf(service, await service.token(await service.createTenant("100")));
    const [primary, empty] = [pair.primary(), pair.standby()];
    await empty.kill();
    rmSync(empty.dir, { recursive: true, force: true });
    empty.initialise();
    empty.configure({});
    await empty.start();
    await primary.kill();
    await eventually(
      () => service.logLines.filter((line) => line.includes("another cluster that has no tables")),
      (lines) => lines.length > 0,
    );
    expect(await status()).toBe(503);
    await empty.ask(`
      CREATE TABLE database_epochs AS SELECT 1 AS number, gen_random_uuid() AS id,
        NULL::text AS system_identifier, NULL::text AS timeline, 'first' AS reason, now() AS started_at`);
    await eventually(
      () => service.logLines.filter((line) => line.includes("another installation of Bursar")),
      (lines) => lines.length > 0,
    );
    expect(await status()).toBe(503);
    await primary.start();
    await untilServing();
    const { status: answer } = await eventually(
      () => api.create({ reference: "r", asset: "USD", amount: "1" }),
      (made) => made.status !== 503,
    );
    expect(answer).toBe(202);
    expect(await empty.ask("SELECT FROM pg_tables WHERE schemaname = 'public'")).toHaveLength(1);
    expect(await empty.ask("SELECT FROM database_epochs")).toHaveLength(1);
  });

  it("is left by a process that still has connections to it when its standby is promoted", async () => {
    await pair.rebuild();
    await untilServing();
    const tenant = await service.createTenant("100");
    const api = transactionsOf(service, await service.token(tenant));
    const [old, promoted] = [pair.primary(), pair.standby()];
    const countSessions = (server: PostgresServer) =>
      server.ask("SELECT FROM pg_stat_activity WHERE application_name = 'bursar notifications'");
    expect(await countSessions(old)).toHaveLength(1);
    await eventually(
      () => promoted.ask<{ id: string }>("SELECT id FROM tenants"),
      (rows) => rows.some(({ id }) => id === tenant.client.tenantId),
    );
    await promoted.ask("SELECT pg_promote(true, 60)");
    await eventually(
      () => countSessions(promoted),
      (rows) => rows.length === 1,
    );
    await untilServing();
    const { body } = await eventually(
      () => api.create({ reference: "r", asset: "USD", amount: "1" }),
      (answer) => answer.status === 202,
    );
    const uuid = readId("tx", body.id);
    expect(await promoted.ask(`SELECT FROM transactions WHERE id = '${uuid}'`)).toHaveLength(1);
    expect(await old.ask(`SELECT FROM transactions WHERE id = '${uuid}'`)).toHaveLength(0);
    expect(await countSessions(old)).toHaveLength(0);
    await promoted.kill();
  });
});
