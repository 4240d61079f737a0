import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { afterAll, beforeAll, expect, it } from "vitest";
import { eventually } from "../../harness/eventually.js";
import { type RewindableService, startRewindableService } from "./rewindable-service.js";

let rewindable: RewindableService;
beforeAll(async () => {
  rewindable = await startRewindableService("rewound-empty");
});
afterAll(() => rewindable?.stop());

it("a database that was dropped and created again is left empty for its operator to restore", async () => {
  const { service, postgres } = rewindable;
  const url = new URL(postgres.database.url);
  const name = url.pathname.slice(1);
  const run = async (database: string, text: string) => {
    const client = new pg.Client({
      connectionString: Object.assign(new URL(url), { pathname: database }).href,
    });
    await client.connect();
    try {
      return (await client.query(text)).rows;
    } finally {
      await client.end();
    }
  };
  const isReady = async () => (await service.call("GET", "/readyz", undefined)).status;
  expect(await isReady()).toBe(200);
  await run("template1", `DROP DATABASE ${name} WITH (FORCE)`);
  await run("template1", `CREATE DATABASE ${name}`);
  await eventually(isReady, (status) => status === 503);
  // Connections are made again, and what was prepared at the start is not prepared again.
  await eventually(
    () =>
      run(
        name,
        "SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'bursar'",
      ),
    (rows) => rows.length > 0,
  );
  for (let look = 0; look < 20; look++) {
    expect(await run(name, "SELECT to_regclass('schema_migrations') AS found")).toEqual([{ found: null }]);
    expect(await isReady()).toBe(503);
    await sleep(100);
  }
});
