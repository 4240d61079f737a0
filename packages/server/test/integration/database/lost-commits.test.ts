import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createIntegrityKeys } from "../../../src/credentials/integrity-keys.js";
import { createKeyring } from "../../../src/credentials/keyring.js";
import { createSealing } from "../../../src/credentials/sealing.js";
import { createAuditStore } from "../../../src/store/access/audit.js";
import { type Database, openDatabase, withKeys } from "../../../src/store/core/database.js";
import { sql } from "../../../src/store/core/sql.js";
import { createEventLog, createEventStore } from "../../../src/store/events/events.js";
import { createTestDatabase, type TestDatabase } from "../../harness/database/test-database.js";
import { eventually } from "../../harness/eventually.js";

/** What a process has committed is taken away from the database, and all of its connections are lost, as when a copy is put back. */
describe("a database that lacks what a process knows to be committed", () => {
  let direct: TestDatabase;
  let database: Database;
  let other: Database;
  beforeEach(async () => {
    direct = await createTestDatabase();
    [database, other] = [open(), open()];
    await database.identify();
  });
  afterEach(async () => {
    await database.close();
    await other.close();
    await direct.drop();
  });

  const open = () => {
    const keys = createIntegrityKeys(createSealing(createKeyring([Buffer.alloc(32, 7)])));
    return withKeys(openDatabase({ url: direct.url, connectionsMax: 1 }), keys);
  };
  const tenantId = randomUUID();
  const log = createEventLog({ publish: () => undefined });
  const append = (into: Database, occurredAt = new Date(), count = 1) =>
    into.transaction((tx) =>
      log.append(
        tx,
        Array.from({ length: count }, (_, version) => ({
          tenantId,
          event: "wallet.updated",
          subjectId: randomUUID(),
          version,
          state: "active",
          previousState: "pending",
          failureCode: null,
          occurredAt,
        })),
      ),
    );
  const audit = (into: Database, object: string) =>
    createAuditStore(into).append([
      {
        tenantId,
        occurredAt: new Date(),
        actor: "operator",
        clientId: null,
        tokenId: null,
        action: "tenant.create",
        object,
        outcome: "succeeded",
        code: null,
        repeated: 1,
        requestId: null,
        address: null,
      },
    ]);
  const loseEvents = (from: number) =>
    direct.run(
      `DELETE FROM events WHERE sequence >= ${from}; UPDATE event_sequences SET sequence = ${from - 1}`,
    );
  const reconnect = async (one: Database) => {
    await direct
      .run(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
      )
      .catch(() => undefined);
    await eventually(
      () =>
        one.identify().then(
          () => true,
          () => false,
        ),
      Boolean,
    );
    return one.identity.epoch();
  };
  const listEpochs = () =>
    direct.query<{ number: string; reason: string }>(
      sql`SELECT number, reason FROM database_epochs ORDER BY number`,
    );

  it("is in a new epoch if an event is missing", async () => {
    const before = database.identity.epoch();
    await append(database, new Date(), 3);
    await loseEvents(3);
    expect(await reconnect(database)).not.toBe(before);
    expect((await listEpochs()).at(-1)?.reason).toBe("rewound");
  });

  it("is in a new epoch if another event has the sequence of the lost one", async () => {
    const before = database.identity.epoch();
    await append(database);
    await loseEvents(1);
    await append(other, new Date(Date.now() + 1), 5);
    expect(await reconnect(database)).not.toBe(before);
  });

  it("is in a new epoch if the process has only read the event", async () => {
    await append(other);
    const before = database.identity.epoch();
    await createEventStore(database).listEvents(tenantId, 0, 10);
    await loseEvents(1);
    expect(await reconnect(database)).not.toBe(before);
  });

  it("is in a new epoch if an entry of the audit log is missing, or is another one", async () => {
    const first = database.identity.epoch();
    await audit(database, "one");
    const lose =
      "ALTER TABLE audit_entries DISABLE TRIGGER USER; ALTER TABLE audit_heads DISABLE TRIGGER USER; DELETE FROM audit_entries; DELETE FROM audit_heads";
    await direct.run(lose);
    const second = await reconnect(database);
    expect(second).not.toBe(first);
    await audit(database, "two");
    await direct.run(lose);
    await audit(other, "three").catch(() => audit(other, "three"));
    expect(await reconnect(database)).not.toBe(second);
  });

  it("is in the same epoch if nothing was lost, or if old events were removed", async () => {
    const before = database.identity.epoch();
    await append(database, new Date(), 3);
    await audit(database, "one");
    expect(await reconnect(database)).toBe(before);
    await append(other, new Date(), 3);
    await direct.run("DELETE FROM events WHERE sequence <= 4");
    expect(await reconnect(database)).toBe(before);
    expect(await listEpochs()).toHaveLength(1);
  });

  it("is in one new epoch, no matter how many processes notice it", async () => {
    await append(database);
    await append(other);
    await loseEvents(1);
    await Promise.all([reconnect(database), reconnect(other)]);
    expect(await listEpochs()).toHaveLength(2);
    expect(database.identity.epoch()).toBe(other.identity.epoch());
    // The epoch is known now, and nothing else was lost.
    await reconnect(database);
    expect(await listEpochs()).toHaveLength(2);
  });

  it("is in a new epoch with a higher number than any that was seen, if it has an earlier one", async () => {
    await direct.run("INSERT INTO database_epochs (number, reason) VALUES (9, 'recovered')");
    await database.identify().catch(() => undefined);
    await direct.run("DELETE FROM database_epochs WHERE number = 9");
    await database.identify().catch(() => undefined);
    expect((await listEpochs()).map(({ number }) => number)).toEqual(["1", "10"]);
    // The tenth is after the ninth.
    await direct.run("INSERT INTO database_epochs (number, reason) VALUES (9, 'recovered')");
    await other.identify();
    expect(other.identity.epoch()).toBe(database.identity.epoch());
  });

  it("is not used while it takes no writes, because the new epoch cannot be recorded", async () => {
    await append(database);
    await loseEvents(1);
    const setReadOnly = (value: string) =>
      direct.run(
        `SET default_transaction_read_only = off; DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = ${value}', current_database()); END $$`,
      );
    await setReadOnly("on");
    await direct
      .run(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
      )
      .catch(() => undefined);
    await database.query(sql`SELECT 1`).catch(() => undefined);
    await expect(database.query(sql`SELECT 1`)).rejects.toThrow("unavailable");
    await setReadOnly("off");
    await reconnect(database);
    expect(await listEpochs()).toHaveLength(2);
  });
});
