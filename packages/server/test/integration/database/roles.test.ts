import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { verifyAudit } from "../../../src/app/audit/audit-chain.js";
import { createAuditStore } from "../../../src/store/access/audit.js";
import { openDatabase } from "../../../src/store/core/database.js";
import {
  changeOwnerScript,
  createRolesScript,
  findOwningRole,
  grantScript,
  listSchemaTables,
} from "../../../src/store/core/schema/database-roles.js";
import { sql } from "../../../src/store/core/sql.js";
import { createTestDatabase, type RemovableDatabase } from "../../harness/database/test-database.js";
import { eventually } from "../../harness/eventually.js";
import { startTestService, type TestService } from "../../harness/service/test-service.js";

const suffix = randomBytes(4).toString("hex");
const roles = { owner: `owner_${suffix}`, service: `service_${suffix}` };

describe("a service whose role may only change rows", () => {
  let database: RemovableDatabase;
  let service: TestService;
  let serviceUrl: string;
  beforeAll(async () => {
    database = await createTestDatabase();
    await database.run(createRolesScript(roles));
    await database.run(changeOwnerScript(roles));
    await database.run(grantScript(roles));
    await database.run(
      `ALTER ROLE ${roles.service} PASSWORD 'test'; ALTER ROLE ${roles.owner} PASSWORD 'test'`,
    );
    serviceUrl = asRole(roles.service);
    service = await startTestService(
      { DATABASE_URL: serviceUrl },
      { database, masterKey: randomBytes(32), publicUrl: undefined },
    );
  });
  afterAll(async () => {
    await service?.stop();
    await database?.dropNow();
    const admin = openDatabase({ url: inject("postgresUrl"), connectionsMax: 1 });
    await admin.session((session) => session.script(`DROP ROLE ${roles.service}; DROP ROLE ${roles.owner}`));
    await admin.close();
  });
  const asRole = (role: string) => {
    const url = new URL(database.url);
    url.username = role;
    url.password = "test";
    return url.href;
  };
  const runAs = async (role: string, script: string) => {
    const opened = openDatabase({ url: asRole(role), connectionsMax: 1 });
    try {
      await opened.session((session) => session.script(script));
    } finally {
      await opened.close();
    }
  };

  it("does all that clients ask for", async () => {
    const owner = await service.createTenant("1000");
    const token = await service.token(owner);
    const call = async (method: string, path: string, body?: unknown) => {
      const key = { "idempotency-key": randomBytes(8).toString("hex") };
      const response = await service.call(method, path, token, body, method === "POST" ? key : {});
      return { status: response.status, body: (await response.json()) as { id: string; state: string } };
    };
    const paid = await call("POST", "/v1/transactions", { reference: "r", asset: "USD", amount: "10" });
    expect(paid.status).toBe(202);
    await eventually(
      () => call("GET", `/v1/transactions/${paid.body.id}`),
      ({ body }) => body.state === "completed",
    );
    const made = await call("POST", "/v1/clients", { name: "made", scopes: [] });
    expect(made.status).toBe(201);
    const statuses = [
      await call("PATCH", `/v1/clients/${made.body.id}`, { state: "disabled" }),
      await call("POST", `/v1/clients/${made.body.id}/secrets`, {}),
      await call("POST", `/v1/clients/${made.body.id}/keys`, { algorithm: "hmac-sha256" }),
      await call("POST", "/v1/wallets", { name: "other", purpose: "payout", network: "book" }),
      await call("GET", "/v1/audit"),
      await call("GET", "/v1/events"),
      await call("GET", "/v1/policy"),
    ].map(({ status }) => status);
    expect(statuses).toEqual([200, 201, 201, 202, 200, 200, 200]);
    const store = createAuditStore(database);
    const verdicts = await verifyAudit({ store, keys: service.keys, tenantIds: [] });
    expect(verdicts.map(({ fault }) => fault).filter((fault) => fault !== undefined)).toEqual([]);
    // What could not be written for want of a privilege is in the log.
    expect(service.logLines.filter((line) => line.includes("permission denied"))).toEqual([]);
  });

  it.each([
    "UPDATE audit_entries SET action = 'x'",
    "DELETE FROM audit_entries",
    "TRUNCATE audit_entries",
    "DELETE FROM audit_heads",
    "DELETE FROM audit_bases",
    "INSERT INTO audit_bases SELECT tenant_id, number, hash, '', '', now() FROM audit_heads",
    "DELETE FROM retained_keys",
    "UPDATE audit_key_ends SET number = number + 100",
    "DELETE FROM audit_key_ends",
    "UPDATE ledger_entries SET amount = 1",
    "UPDATE chain_attempts SET max_fee = max_fee * 100",
    "DELETE FROM chain_attempts",
    "UPDATE stop_records SET stopped = false",
    "DELETE FROM stop_records",
    "UPDATE person_records SET person_id = tenant_id",
    "DELETE FROM person_records",
    "UPDATE events SET state = 'recorded'",
    "UPDATE transactions SET idempotency_key = 'another'",
    "UPDATE transactions SET request_hash = '\\x00'",
    "DELETE FROM transactions",
    "UPDATE orders SET idempotency_key = 'another'",
    "DELETE FROM orders",
    "DELETE FROM events",
    "DELETE FROM schema_migrations",
    "UPDATE wallet_entries SET balance = 0",
    "DELETE FROM wallet_entries",
    "DELETE FROM wallet_doubts",
    "UPDATE sessions SET expires_at = 'infinity'",
    "UPDATE roles SET scopes = '{}'",
    "SET bursar.audit_prune = 'on'; DELETE FROM audit_entries",
  ])("cannot run %s", async (statement) => {
    await expect(runAs(roles.service, statement)).rejects.toThrow("permission denied");
  });

  it.each(["DELETE FROM used_nonces", "UPDATE used_nonces SET expires_at = '-infinity'"])(
    "cannot make a proof usable again with %s",
    async (statement) => {
      const insert = (nonce: string, expiresAt: string) =>
        database.run(`INSERT INTO used_nonces (tenant_id, client_id, nonce, expires_at)
          VALUES (gen_random_uuid(), gen_random_uuid(), '${nonce}', ${expiresAt}) ON CONFLICT DO NOTHING`);
      await insert("old", "now() - interval '1 hour'");
      await insert("new", "now() + interval '1 hour'");
      await expect(runAs(roles.service, statement)).rejects.toThrow(
        "a used nonce stays until it has expired",
      );
      await runAs(roles.service, "DELETE FROM used_nonces WHERE expires_at < now()");
      const left = await database.query(sql`SELECT FROM used_nonces WHERE nonce = 'old'`);
      expect(left).toEqual([]);
    },
  );

  it.each([
    "ALTER TABLE audit_entries DISABLE TRIGGER ALL",
    "DROP TABLE audit_entries",
    "CREATE TABLE mine (id int)",
    "CREATE OR REPLACE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$",
  ])("cannot change the schema with %s", async (statement) => {
    await expect(runAs(roles.service, statement)).rejects.toThrow(/must be owner|permission denied/);
  });

  it("has a grant for every table", async () => {
    const tables = await database.query<{ table: string; isGranted: boolean }>(sql`
      SELECT c.relname AS table, has_table_privilege(${roles.service}, c.oid, 'SELECT') AS "isGranted"
      FROM pg_class c WHERE c.relkind IN ('r', 'p') AND c.relnamespace = 'public'::regnamespace ORDER BY c.relname
    `);
    expect(tables.map(({ table }) => table)).toEqual(listSchemaTables().sort());
    expect(tables.filter(({ isGranted }) => !isGranted)).toEqual([]);
  });

  it("can begin a new epoch", async () => {
    const opened = openDatabase({ url: serviceUrl, connectionsMax: 1 });
    await database.run("INSERT INTO database_epochs (number, reason) VALUES (9, 'recovered')");
    await opened.identify();
    await database.run("DELETE FROM database_epochs WHERE number = 9");
    await opened.identify().catch(() => undefined);
    await opened.close();
    const [last] = await database.query(sql`
      SELECT number, reason FROM database_epochs e ORDER BY e.number DESC LIMIT 1
    `);
    expect(last).toEqual({ number: "10", reason: "rewound" });
  });

  it("differs from one that owns its tables", async () => {
    const opened = openDatabase({ url: serviceUrl, connectionsMax: 1 });
    expect(await findOwningRole(opened)).toBeUndefined();
    await opened.close();
    expect(await findOwningRole(database)).toBeDefined();
  });
});
