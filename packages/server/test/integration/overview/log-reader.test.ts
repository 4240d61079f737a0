import { randomUUID } from "node:crypto";
import { readId } from "@bursar/protocol";
import { array, assert, asyncProperty, constantFrom, integer, record } from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Database, isLockTimeout, type Tx } from "../../../src/store/core/database.js";
import { sql } from "../../../src/store/core/sql.js";
import { createLogReaderStore } from "../../../src/store/overview/log-reader-store.js";
import { findViewFaults } from "../../harness/database/expected-views.js";
import { eventually } from "../../harness/eventually.js";
import { startTestService, type TestService } from "../../harness/service/test-service.js";
import { deposit } from "../../harness/transactions/deposit.js";
import { transactionsOf } from "../../harness/transactions/transactions-client.js";

/** What becomes of a step: it is done, its process is killed before the commit, or after it and before anybody knows. */
type Fate = "done" | "killed before" | "killed after";

/** A reader whose process is killed at a moment that the test chooses. */
function mortal(database: Database, fate: () => Fate): Database {
  return {
    ...database,
    transaction: async <T>(work: (tx: Tx) => Promise<T>) => {
      const own = fate();
      const result = await database.transaction(async (tx) => {
        const done = await work(tx);
        if (own === "killed before") await tx.query(sql`SELECT pg_terminate_backend(pg_backend_pid())`);
        return done;
      });
      if (own === "killed after") throw new Error("killed");
      return result;
    },
  };
}

describe("the reader of the log", () => {
  let service: TestService;
  let tenantId: string;
  beforeAll(async () => {
    service = await startTestService({});
    const owner = await service.createTenant();
    tenantId = readId("tnt", owner.tenantId) ?? "";
    const api = transactionsOf(service, await service.token(owner));
    await deposit(service, owner, "1000");
    // Some succeed, and those that are too large fail.
    const items = Array.from({ length: 60 }, (_, index) => ({
      idempotency_key: `${index}`,
      reference: "read",
      asset: "USD",
      amount: `${((index * 37) % 91) + 1}.5`,
    }));
    const made = await api.send("POST", "/v1/transactions/batch", { transactions: items });
    expect(made.status).toBe(202);
    await eventually(
      () => service.database.query(sql`SELECT FROM open_transactions WHERE tenant_id = ${tenantId}`),
      (open) => open.length === 0,
    );
  });
  afterAll(() => service.stop());

  /** As if the tenant had never been read. A process that reads at the moment is waited for. */
  const forget = () =>
    service.database.transaction(async (tx) => {
      await tx.query(sql`SELECT FROM log_positions WHERE tenant_id = ${tenantId} FOR UPDATE`);
      for (const table of [
        sql`wallet_entries`,
        sql`wallet_periods`,
        sql`transaction_periods`,
        sql`log_positions`,
      ])
        await tx.query(sql`DELETE FROM ${table} WHERE tenant_id = ${tenantId}`);
    });
  const isAtEnd = async () => {
    const [row] = await service.database.query<{ isAtEnd: boolean }>(sql`
      SELECT s.sequence = coalesce((SELECT sequence FROM log_positions WHERE tenant_id = ${tenantId}), 0) AS "isAtEnd"
      FROM event_sequences s WHERE s.tenant_id = ${tenantId}`);
    return row?.isAtEnd === true;
  };

  it("writes what follows from the tables, whatever its steps are and whenever its processes are killed", async () => {
    const steps = array(
      record({
        eventsMax: integer({ min: 1, max: 40 }),
        fate: constantFrom<Fate>("done", "killed before", "killed after"),
      }),
      { minLength: 3, maxLength: 12 },
    );
    await assert(
      asyncProperty(steps, async (plan) => {
        await forget();
        const queue = [...plan];
        const read = async () => {
          for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
            const { fate, eventsMax } = next;
            const store = createLogReaderStore(mortal(service.database, () => fate));
            await store.readSome([tenantId], eventsMax).catch(() => undefined);
          }
        };
        await Promise.all([read(), read()]);
        const survivor = createLogReaderStore(service.database);
        while (!(await isAtEnd())) await survivor.readSome([tenantId], 500);
        expect(await findViewFaults(service.database, tenantId)).toEqual([]);
      }),
      { numRuns: 10 },
    );
  });

  it("reads many logs in one step, which they share", async () => {
    const others = await Promise.all(
      Array.from({ length: 6 }, async () => {
        const owner = await service.createTenant();
        await deposit(service, owner, "100");
        const api = transactionsOf(service, await service.token(owner));
        for (const amount of ["1", "2", "3000"])
          await api.create({ reference: "many", asset: "USD", amount });
        return readId("tnt", owner.tenantId) ?? "";
      }),
    );
    await eventually(
      () =>
        service.database.query(sql`SELECT FROM open_transactions WHERE tenant_id = ANY (${others}::uuid[])`),
      (open) => open.length === 0,
    );
    await service.database.transaction(async (tx) => {
      await tx.query(sql`SELECT FROM log_positions WHERE tenant_id = ANY (${others}::uuid[]) FOR UPDATE`);
      for (const table of [
        sql`wallet_entries`,
        sql`wallet_periods`,
        sql`transaction_periods`,
        sql`log_positions`,
      ])
        await tx.query(sql`DELETE FROM ${table} WHERE tenant_id = ANY (${others}::uuid[])`);
    });
    const store = createLogReaderStore(service.database);
    let steps = 0;
    for (let left: string[] = others; left.length > 0; steps += 1) left = await store.readSome(left, 12);
    expect(steps).toBeGreaterThan(1);
    for (const id of others) {
      await eventually(
        () => findViewFaults(service.database, id),
        (faults) => faults.length === 0,
      );
    }
  });

  it("does not wait long for a position that another process has begun", async () => {
    const unread = randomUUID();
    await service.database.transaction(async (tx) => {
      await tx.query(sql`INSERT INTO log_positions (tenant_id, sequence) VALUES (${unread}, 0)`);
      const step = createLogReaderStore(service.database).readSome([unread], 1);
      await expect(step).rejects.toSatisfy(isLockTimeout);
    });
  });

  it("is found out by the comparison if it reads an event twice, or leaves one out", async () => {
    await service.database.query(
      sql`UPDATE log_positions SET sequence = sequence - 1 WHERE tenant_id = ${tenantId}`,
    );
    // An entry has a key; a sum has none.
    await service.database.query(sql`DELETE FROM wallet_entries WHERE tenant_id = ${tenantId} AND sequence = (
      SELECT max(sequence) FROM wallet_entries WHERE tenant_id = ${tenantId})`);
    expect(await findViewFaults(service.database, tenantId)).not.toEqual([]);
    await createLogReaderStore(service.database).readSome([tenantId], 500);
    expect(JSON.stringify(await findViewFaults(service.database, tenantId))).toContain('"states"');
  });
});
