import { execFile } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { readId } from "@bursar/protocol";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freePort } from "../../../src/embedded/free-port.js";
import { type Database, openDatabase } from "../../../src/store/core/database.js";
import { eventually } from "../../harness/eventually.js";
import { startTestService, type TestService } from "../../harness/service/test-service.js";
import { openStream } from "../../harness/stream/stream-client.js";
import { createTemporaryFolder } from "../../harness/temporary-folder.js";
import { transactionsOf } from "../../harness/transactions/transactions-client.js";
import { createPostgresServer, installedBin, type PostgresServer } from "../failover/postgres-server.js";

const run = promisify(execFile);
const hasTools = existsSync(join(installedBin, "pg_restore"));
if (!hasTools)
  process.stderr.write(`skipped: pg_dump and pg_restore, because ${installedBin} does not have them\n`);

const isLong = process.env["BURSAR_PROOF_FORM"] === "long";
const errorFields = ["message", "stderr", "cause"];
const cleaning = ["--clean", "--if-exists"];
const restores = [
  {
    how: "with --clean in one transaction",
    options: [...cleaning, "--single-transaction"],
    isShort: true,
  },
  { how: "with --clean, step by step", options: cleaning },
  { how: "after its schema was dropped, in one transaction", options: ["--single-transaction"], drops: true },
  { how: "after its schema was dropped, step by step", options: [], drops: true, isShort: true },
];

/** With the tools of PostgreSQL, under requests that never pause. */
describe.skipIf(!hasTools)("pg_restore into the database of two running processes", () => {
  const folder = createTemporaryFolder("rewound-restore");
  const dump = join(folder, "dump");
  let server: PostgresServer;
  let database: Database;
  let services: TestService[] = [];
  beforeAll(async () => {
    server = createPostgresServer(join(folder, "postgres"), await freePort());
    server.initialise();
    server.configure({});
    await server.start();
    // The second server does not answer. That there could be one must not make a restored database look like an old primary.
    const url = new URL(server.url);
    const severalUrl = server.url.replace(url.host, `${url.host},127.0.0.1:${await freePort()}`);
    database = openDatabase({ url: severalUrl, connectionsMax: 2 });
    const shared = {
      database: {
        ...database,
        url: severalUrl,
        run: (script: string) => database.session((session) => session.script(script)),
        drop: database.close,
      },
      masterKey: Buffer.alloc(32, 7),
      publicUrl: undefined,
    };
    const service = await startTestService({}, shared);
    services = [service, await service.another()];
  });
  afterAll(async () => {
    for (const service of services.toReversed()) await service.stop();
    await database?.close();
    await server?.kill();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Operators repeat what a deadlock with the running processes has ended. */
  const repeatedly = async (work: () => Promise<unknown>) => {
    const isDeadlock = (error: unknown) => JSON.stringify(error, errorFields).includes("deadlock");
    await eventually(
      () =>
        work().then(
          () => true,
          (error: unknown) => {
            if (!isDeadlock(error)) throw error;
            return false;
          },
        ),
      Boolean,
    );
  };
  const restore = (options: readonly string[]) =>
    run(join(installedBin, "pg_restore"), ["--exit-on-error", ...options, "-d", server.url, dump]);
  const readEpoch = async (one: TestService, token: string) => {
    const response = await one.call("GET", "/v1/events?limit=1", token);
    return response.ok ? ((await response.json()) as { epoch?: string }).epoch : undefined;
  };

  it.each(isLong ? restores : restores.filter(({ isShort }) => isShort))(
    "is noticed $how: nothing is shown that was lost, and nothing fails with 500",
    async ({ options, drops }) => {
      const [service] = services as [TestService];
      const token = await service.token(await service.createTenant("1000"));
      const api = transactionsOf(service, token);
      const pay = async () => {
        const { status, text, body } = await api.create({ reference: "r", asset: "USD", amount: "1" });
        if (status !== 202) throw new Error(text);
        return await api.settled(body.id);
      };
      const kept = await pay();
      await run(join(installedBin, "pg_dump"), ["-Fc", "-f", dump, server.url]);
      // The dump is from an earlier epoch.
      const dumped = await readEpoch(service, token);
      await server.ask(`
        INSERT INTO database_epochs (number, system_identifier, timeline, reason)
        SELECT number + 1, system_identifier, timeline, 'recovered' FROM database_epochs ORDER BY number DESC LIMIT 1`);
      for (const one of services)
        await eventually(
          () => readEpoch(one, token),
          (name) => name !== undefined && name !== dumped,
        );
      const epoch = await readEpoch(service, token);
      const lost = [await pay(), await pay()];
      const streams = await Promise.all(services.map(({ url }) => openStream(url, { token })));

      const statuses = new Set<number>();
      const accepted: string[] = [];
      let isLoaded = true;
      const ask = async (one: TestService, index: number) => {
        while (isLoaded) {
          for (const { id } of lost)
            statuses.add((await one.call("GET", `/v1/transactions/${id}`, token)).status);
          const made = await transactionsOf(services[index] ?? service, token).create({
            reference: "load",
            asset: "USD",
            amount: "0.01",
          });
          statuses.add(made.status);
          if (made.status === 503) expect(made.headers.get("retry-after")).toBe("1");
          if (made.status === 202) accepted.push(made.body.id);
        }
      };
      const asking = Promise.all(services.map(ask));
      asking.catch(() => undefined);
      if (drops) {
        await repeatedly(() => server.ask("DROP SCHEMA public CASCADE"));
        await server.ask("CREATE SCHEMA public");
        for (const one of services)
          await eventually(
            async () => (await one.call("GET", "/readyz", undefined)).status,
            (status) => status === 503,
          );
      }
      await repeatedly(() => restore(options));
      for (const { closed } of streams) expect([1012, 4010]).toContain((await closed).code);
      for (const one of services)
        expect(
          await eventually(
            () => readEpoch(one, token),
            (found) => found !== undefined && found !== epoch,
          ),
        ).toMatch(/^epo_/);
      const noticedAt = accepted.length;
      await sleep(500);
      isLoaded = false;
      await asking;

      expect([...statuses].filter((status) => ![200, 202, 404, 503].includes(status))).toEqual([]);
      const rows = await server.ask<{ id: string }>("SELECT id FROM transactions");
      const stored = new Set(rows.map(({ id }) => id));
      for (const one of services) {
        const statusOf = async (id: string) =>
          (await one.call("GET", `/v1/transactions/${id}`, token)).status;
        for (const { id } of lost) expect(await statusOf(id)).toBe(404);
        expect(await statusOf(kept.id)).toBe(200);
        for (const id of accepted)
          expect(await statusOf(id)).toBe(stored.has(readId("tx", id) ?? "") ? 200 : 404);
      }
      for (const id of accepted.slice(noticedAt)) expect(stored.has(readId("tx", id) ?? "")).toBe(true);
      expect((await pay()).state).toBe("completed");
    },
  );
});
