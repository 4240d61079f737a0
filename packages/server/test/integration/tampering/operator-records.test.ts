import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { OperatorRequest } from "../../../src/app/requests/operator-request.js";
import { createKeyring } from "../../../src/credentials/keyring.js";
import { createSealing } from "../../../src/credentials/sealing.js";
import {
  createTokenKeyRing,
  listValidTokenKeys,
  revokeTokenKey,
  rotateTokenKeys,
} from "../../../src/credentials/token-keys.js";
import { createTokenKeyStore } from "../../../src/store/access/tokens.js";
import { withKeys } from "../../../src/store/core/database.js";
import { recordOperatorRequest } from "../../../src/store/core/operator-requests.js";
import { keys } from "../../harness/access/segments.js";
import { createServiceRole, type ServiceRole } from "../../harness/database/service-role.js";
import { createTestDatabase, type TestDatabase } from "../../harness/database/test-database.js";

describe("what the operator did, in a database that the role of the service writes to by hand", () => {
  let database: TestDatabase;
  let role: ServiceRole;
  beforeAll(async () => {
    database = await createTestDatabase();
    role = await createServiceRole(database);
  });
  afterAll(async () => {
    await role?.drop();
    await database?.drop();
  });

  const fail = (error: unknown) => {
    throw error;
  };

  it("does not become valid again: a revoked signing key whose row is put back", async () => {
    const keyed = withKeys(database, keys);
    const store = createTokenKeyStore(keyed);
    const sealing = createSealing(createKeyring([randomBytes(32)]));
    const newUuid = () => crypto.randomUUID();
    const minuteAgo = () => Date.now() - 60_000;
    const { added } = await rotateTokenKeys(store, sealing, newUuid, minuteAgo);
    const ring = () => createTokenKeyRing(store, sealing, Date.now, Date.now);
    const { kid } = await ring().signingKey();
    await database.run("CREATE TABLE kept AS SELECT * FROM token_keys; GRANT SELECT ON kept TO PUBLIC");
    await revokeTokenKey(store, sealing, added.id, newUuid, minuteAgo, fail);
    await role.run("INSERT INTO token_keys SELECT * FROM kept");
    expect(await ring().verifyingKey(kid)).toBeUndefined();
    expect((await ring().signingKey()).kid).not.toBe(kid);
  });

  it("is done although the audit log cannot be written: a key is revoked, also if its row is put back", async () => {
    const store = createTokenKeyStore(withKeys(database, keys));
    const sealing = createSealing(createKeyring([randomBytes(32)]));
    const newUuid = () => crypto.randomUUID();
    await database.run("DELETE FROM token_keys");
    const { added } = await rotateTokenKeys(store, sealing, newUuid, Date.now);
    await database.run(
      "ALTER TABLE audit_entries ADD CONSTRAINT full_disk CHECK (action <> 'keys.revoke') NOT VALID",
    );
    await database.run("CREATE TABLE kept_2 AS SELECT * FROM token_keys; GRANT SELECT ON kept_2 TO PUBLIC");
    const errors: unknown[] = [];
    await revokeTokenKey(store, sealing, added.id, newUuid, Date.now, (error) => errors.push(error));
    expect(errors).toMatchObject([{ message: expect.stringContaining("full_disk") }]);
    await database.run("ALTER TABLE audit_entries DROP CONSTRAINT full_disk");
    await role.run("INSERT INTO token_keys SELECT * FROM kept_2");
    expect(await store.listRevoked([added.id])).toEqual([added.id]);
    await role.run(`
      INSERT INTO stop_records (tenant_id, subject_id, number, stopped, recorded_at)
      SELECT tenant_id, subject_id, number + 1, false, now() FROM stop_records WHERE subject_id = '${added.id}'`);
    expect(await store.listRevoked([added.id])).toEqual([added.id]);
    expect((await listValidTokenKeys(store)).map(({ id }) => id)).not.toContain(added.id);
  });

  it("is not taken from a row that somebody else has prepared for a key", async () => {
    const keyed = withKeys(database, keys);
    const request = (key: string): OperatorRequest => ({
      action: "tenant.create",
      key,
      hash: Buffer.alloc(32, 1).toString("hex"),
    });
    const result = () => ({
      tenantId: crypto.randomUUID(),
      objectId: crypto.randomUUID(),
      sealedSecret: Buffer.from("sealed"),
    });
    const record = (key: string) =>
      keyed.transaction((tx) => recordOperatorRequest(tx, request(key), result()));
    expect(await record("mallory")).toBeUndefined();
    expect(await record("mallory")).toMatchObject({ requestHash: request("mallory").hash });
    await role.run(`
      CREATE TEMP TABLE copied AS SELECT * FROM operator_requests WHERE idempotency_key = 'mallory';
      UPDATE copied SET idempotency_key = 'bank-1';
      INSERT INTO operator_requests SELECT * FROM copied`);
    await expect(record("bank-1")).rejects.toThrow("Nothing was done");
  });
});
