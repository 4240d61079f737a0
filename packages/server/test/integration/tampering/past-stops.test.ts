import { readId } from "@bursar/protocol";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ClientAccess } from "../../../src/app/clients/client.js";
import { judgeCaller } from "../../../src/store/access/review-caller.js";
import { readStandingAt, type StopAt, stopAt } from "../../../src/store/access/stops/past-stops.js";
import { resealStops } from "../../../src/store/access/stops/reseal-stops.js";
import { insertStop, lastStopAt, recordStop } from "../../../src/store/access/stops/stop-records.js";
import { withKeys } from "../../../src/store/core/database.js";
import { sql } from "../../../src/store/core/sql.js";
import { createGuardedTenant } from "../../harness/access/officers.js";
import { keysOf } from "../../harness/access/segments.js";
import { createServiceRole, type ServiceRole } from "../../harness/database/service-role.js";
import { createTestDatabase, type TestDatabase } from "../../harness/database/test-database.js";
import { eventually } from "../../harness/eventually.js";
import { inspectTamperedService } from "../../harness/service/shared-service.js";

const service = await inspectTamperedService();

/** The writer has the rights of the service's role, and no master key. */
describe("a stop of which a writer to the database says that it had ended earlier", () => {
  let database: TestDatabase;
  let role: ServiceRole;
  const [stopped, ended, again, endedAgain] = [1, 3, 5, 7].map(
    (hour) => new Date(Date.UTC(2026, 0, 1, hour)),
  );
  const hours = [0, 2, 4, 6, 8];
  beforeAll(async () => {
    database = await createTestDatabase();
    role = await createServiceRole(database);
  });
  afterAll(async () => {
    await role?.drop();
    await database?.drop();
  });

  /** A tenant that was suspended twice. */
  async function createSuspended(): Promise<string> {
    const id = crypto.randomUUID();
    await database.run(`INSERT INTO tenants (id, name, created_at) VALUES ('${id}', 'suspended', now())`);
    await withKeys(database, keysOf("one", ["one"])).transaction(async (tx) => {
      for (const at of [stopped, ended, again, endedAgain])
        await recordStop(tx, { tenantId: id, subjectId: id }, at === stopped || at === again, at);
    });
    return id;
  }
  const record = (id: string, columns: string, times = 1) =>
    role.run(`
      INSERT INTO stop_records (tenant_id, subject_id, stopped, number, recorded_at, key_id, mac)
      SELECT tenant_id, subject_id, false, ${columns} FROM (
        SELECT * FROM stop_records WHERE subject_id = '${id}' AND number = 4 LIMIT 1) AS ended, generate_series(1, ${times})`);
  const read = async (id: string, keys = keysOf("one", ["one"])) => {
    const standings = hours.map(async (hour) => {
      const at = sql`${new Date(Date.UTC(2026, 0, 1, hour))}::timestamptz`;
      const [row] = await database.query<{ stop: StopAt | null }>(
        sql`SELECT ${stopAt(sql`${id}::uuid`, sql`${id}::uuid`, at)} AS stop`,
      );
      return readStandingAt(keys, { tenantId: id, subjectId: id }, row?.stop ?? null);
    });
    return (await Promise.all(standings)).join(" ");
  };

  it("holds until the service has recorded its end", async () => {
    expect(await read(await createSuspended())).toBe("free stopped free stopped free");
  });

  it.each([
    ["a record without a MAC", "5, '2026-01-01 05:30Z', NULL, NULL"],
    ["the MAC of the end with another number", "5, '2026-01-01 05:30Z', key_id, mac"],
    ["an id of a key that contains another record", `5, '2026-01-01 05:30Z', '"},{"number":"4', mac`],
  ])("is not ended by %s", async (_, columns) => {
    const id = await createSuspended();
    await record(id, columns);
    expect(await read(id)).toBe("free stopped free forged forged");
  });

  it("is not ended by a copy of its end with an earlier time, whatever else has its number", async () => {
    const id = await createSuspended();
    await record(id, "number, '2026-01-01 05:30Z', key_id, mac");
    expect(await read(id)).toBe("free stopped free stopped free");
    await record(id, "number, '2026-01-01 05:30Z', key_id, mac", 20);
    expect(await read(id)).toBe("free stopped free stopped free");
    await record(id, "number, '2026-01-01 09:00Z', NULL, NULL", 20);
    expect(await read(id)).toBe("free stopped free forged forged");
  });

  it("has the same times after the master key was replaced", async () => {
    const id = await createSuspended();
    const both = withKeys(database, keysOf("two", ["two", "one"]));
    expect(await read(id, keysOf("two", ["two"]))).toBe("free stopped forged stopped forged");
    expect(await resealStops(both)).toBeGreaterThan(0);
    expect(await read(id, keysOf("two", ["two"]))).toBe("free stopped free stopped free");
    expect(await resealStops(both)).toBe(0);
    // A copy with the old key is not authentic any more.
    await record(id, "number, '2026-01-01 05:30Z', key_id, mac");
    expect(await read(id, keysOf("two", ["two"]))).toBe("free stopped free forged free");
  });
});

describe("what was requested while its client was stopped", () => {
  let role: ServiceRole;
  beforeAll(async () => {
    role = await createServiceRole(service.database);
  });
  afterAll(() => role?.drop());

  it("is not made after the client was enabled, whatever something else has recorded about the end of the stop", async () => {
    const tenant = await createGuardedTenant(service);
    const officer = await tenant.hire();
    const requester = await tenant.hire(["transactions:write", "transactions:read"]);
    const payment = await tenant.pay(requester);
    const paymentId = readId("tx", payment.id);
    const subject = {
      tenantId: readId("tnt", tenant.owner.tenantId) ?? "",
      subjectId: readId("cli", requester.clientId) ?? "",
    };
    // By a process that had not noticed yet that another had stopped the client a second before.
    const stoppedAt = new Date(Date.parse(payment.created_at) - 1000);
    await service.keyed.transaction((tx) => recordStop(tx, subject, true, stoppedAt));
    const record = (number: number, authenticity: string) =>
      role.run(`
        INSERT INTO stop_records (tenant_id, subject_id, stopped, number, recorded_at, key_id, mac)
        SELECT tenant_id, subject_id, false, ${number}, '${stoppedAt.toISOString()}'::timestamptz + interval '10 ms', ${authenticity}
        FROM stop_records WHERE subject_id = '${subject.subjectId}' ORDER BY number DESC LIMIT 1`);
    const retry = () =>
      role.run(
        `UPDATE open_transactions SET last_error = NULL, retry_at = NULL, due_at = '-infinity' WHERE id = '${paymentId}'`,
      );
    await record(2, "NULL, NULL");
    await service.changeAsOperator(requester, { state: "active" });
    expect(await tenant.approve(officer, payment)).toMatchObject({ status: 202 });
    const [row] = await eventually(
      () =>
        service.database.query<{ error: string | null }>(
          sql`SELECT last_error AS error FROM open_transactions WHERE id = ${paymentId}`,
        ),
      ([found]) => found === undefined || found.error !== null,
    );
    expect(row?.error).toContain("stop_records");
    await record(3, "key_id, mac");
    await retry();
    await eventually(
      () => tenant.read(payment.id),
      ({ state }) => state === "cancelled" || state === "completed",
    );
    expect(await tenant.read(payment.id)).toMatchObject({ state: "cancelled" });
    const later = await tenant.pay(await tenant.login(requester));
    expect(await tenant.approve(officer, later)).toMatchObject({ status: 202 });
    await tenant.completes(later);
  });

  it("leaves no token valid from before the stop, also if its end is copied with an earlier time", async () => {
    const tenant = await createGuardedTenant(service);
    const requester = await tenant.hire(["transactions:write", "transactions:read"]);
    const token = await service.token(requester);
    const me = async () => (await service.call("GET", "/v1/me", token)).status;
    const subjectId = readId("cli", requester.clientId) ?? "";
    await service.changeAsOperator(requester, { state: "disabled" });
    await service.changeAsOperator(requester, { state: "active" });
    // The row says nothing of the stop, as one from before it.
    const read = async () => {
      const [row] = await service.database.query<{ at: Date }>(
        sql`SELECT ${lastStopAt(sql`c.tenant_id`, sql`c.id`)} AS at FROM clients c WHERE c.id = ${subjectId}`,
      );
      return row?.at;
    };
    const before = await read();
    await role.run(`
      INSERT INTO stop_records (tenant_id, subject_id, stopped, number, recorded_at, key_id, mac, id)
      SELECT tenant_id, subject_id, stopped, number, '2020-01-01', key_id, mac, 'ffffffff-ffff-ffff-ffff-ffffffffffff'
      FROM stop_records WHERE subject_id = '${subjectId}' AND NOT stopped`);
    expect(await read()).toEqual(before);
    expect(await me()).toBe(401);
  });
});

it("a caller is reviewed with the records of its tenant: one that suspends it, and a forged end, refuse it", async () => {
  const owner = await service.createTenant();
  const tenantId = readId("tnt", owner.tenantId) ?? "";
  const isSuspended = () =>
    service.keyed.transaction(async (tx) => {
      const seen: boolean[] = [];
      const review = (access: ClientAccess) => {
        seen.push(access.isSuspended);
        return undefined;
      };
      await judgeCaller(tx, tenantId, { clientId: owner.client.id, review });
      return seen;
    });
  expect(await isSuspended()).toEqual([false]);
  await service.database.query(insertStop({ tenantId, subjectId: tenantId }));
  expect(await isSuspended()).toEqual([true]);
  await service.database.run(`
    INSERT INTO stop_records (tenant_id, subject_id, number, stopped, recorded_at)
    VALUES ('${tenantId}', '${tenantId}', 2, false, now())`);
  expect(await isSuspended()).toEqual([true]);
  await service.setTenantSuspended(owner, false);
  expect(await isSuspended()).toEqual([false]);
});
