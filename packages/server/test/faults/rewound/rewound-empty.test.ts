import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { afterAll, beforeAll, expect, it } from "vitest";
import { eventually } from "../../harness/eventually.js";
import { startTestService, type TestService } from "../../harness/service/test-service.js";
import { type RewindableService, startRewindableService } from "./rewindable-service.js";

let rewindable: RewindableService;
beforeAll(async () => {
  rewindable = await startRewindableService("rewound-empty");
});
afterAll(() => rewindable?.stop());

it("a role that may no longer log in makes requests wait, and they succeed when it may again", async () => {
  const { service, postgres } = rewindable;
  const { database } = postgres;
  const role = { username: "service_for_a_while", password: "first" };
  await database.run(`CREATE ROLE ${role.username} SUPERUSER LOGIN PASSWORD '${role.password}'`);
  const { href: url } = Object.assign(new URL(database.url), role);
  const shared = { database: { ...database, url }, masterKey: service.masterKey, publicUrl: undefined };
  const one = await startTestService({}, shared);
  const terminate = () =>
    runIn(
      database.url,
      `SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE usename = '${role.username}'`,
    );
  try {
    const token = await one.token(await one.createTenant("10"));
    for (const [removal, remedy] of [
      ["NOLOGIN", "LOGIN"],
      ["PASSWORD 'second'", `PASSWORD '${role.password}'`],
    ]) {
      await database.run(`ALTER ROLE ${role.username} ${removal}`);
      // A request also fails because its connection ends; one that was being made meanwhile would answer the next.
      await eventually(
        async () => {
          const ended = await terminate();
          const { status } = await one.call("GET", "/v1/transactions", token);
          return ended.length === 0 && status !== 200;
        },
        (hasNone) => hasNone,
      );
      await expectUnavailable(one, token);
      await database.run(`ALTER ROLE ${role.username} ${remedy}`);
      await eventually(
        async () => (await one.call("GET", "/v1/transactions", token)).status,
        (status) => status === 200,
      );
    }
  } finally {
    await one.stop();
  }
});

async function runIn(connectionString: string, text: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

/** Requests and probes that begin now are answered with 503, again and again. */
async function expectUnavailable(one: TestService, token: string): Promise<void> {
  for (let look = 0; look < 5; look++)
    for (const path of ["/v1/transactions", "/readyz"]) {
      const response = await one.call("GET", path, token);
      expect([path, response.status, response.headers.get("retry-after")]).toEqual([path, 503, "1"]);
    }
}

it("a database that was dropped and created again is left empty for its operator to restore", async () => {
  const { service, postgres } = rewindable;
  const token = await service.token(await service.createTenant("10"));
  const url = new URL(postgres.database.url);
  const name = url.pathname.slice(1);
  const run = (database: string, text: string) =>
    runIn(Object.assign(new URL(url), { pathname: database }).href, text);
  const isReady = async () => (await service.call("GET", "/readyz", undefined)).status;
  expect(await isReady()).toBe(200);
  await run("template1", `DROP DATABASE ${name} WITH (FORCE)`);
  await expectUnavailable(service, token);
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
