import { randomUUID } from "node:crypto";
import { afterAll, expect, it } from "vitest";
import type { IntegrityKeys } from "../../../../src/app/access/integrity-keys.js";
import { describeAct } from "../../../../src/app/audit/audit-entry.js";
import { chainHash } from "../../../../src/app/audit/chain-hash.js";
import { createAuditList } from "../../../../src/app/audit/entry-authenticity.js";
import { sealKeyEnd } from "../../../../src/app/audit/key-ends.js";
import { createAuditStore } from "../../../../src/store/access/audit.js";
import { endOtherKeys } from "../../../../src/store/access/audit-log/end-other-keys.js";
import { withKeys } from "../../../../src/store/core/database.js";
import { sql } from "../../../../src/store/core/sql.js";
import { keysOf } from "../../../harness/access/segments.js";
import { createTestDatabase } from "../../../harness/database/test-database.js";

const known = ["one", "two", "three", "invented"];
/** The master key, with the one before it listed too. All keys that were ever used are retained, and so is the one that a thief has invented. */
const listing = (currentId: string, ...listed: string[]): IntegrityKeys => ({
  currentId,
  derive: (label, keyId) =>
    label === "audit chain" || [currentId, ...listed].includes(keyId)
      ? keysOf(currentId, known).derive(label, keyId)
      : undefined,
});
const keys = { first: listing("one"), second: listing("two", "one"), third: listing("three", "two") };

const database = await createTestDatabase();
for (const keyId of known)
  await database.query(
    sql`INSERT INTO retained_keys (key_id, label, sealed) VALUES (${keyId}, 'audit chain', '')`,
  );
afterAll(() => database.drop());

const act = (tenantId: string, object: string) =>
  describeAct(
    { by: "operator", tenantId },
    object === "begin" ? "tenant.create" : "test.act",
    object,
    new Date("2026-11-17T12:00:00Z"),
  );

/** Three entries of the first master key, its end, and three of the second. */
async function createChain(): Promise<string> {
  const tenantId = randomUUID();
  for (const object of ["begin", "a", "b"])
    await createAuditStore(withKeys(database, keys.first)).append([act(tenantId, object)]);
  const second = withKeys(database, keys.second);
  await endOtherKeys(second, new Date());
  for (const object of ["c", "d", "e"]) await createAuditStore(second).append([act(tenantId, object)]);
  return tenantId;
}

/** The owner of the tables has removed an entry. */
const remove = (tenantId: string, object: string) =>
  database.run(`
    BEGIN; SET LOCAL bursar.audit_prune = on;
    DELETE FROM audit_entries WHERE tenant_id = '${tenantId}' AND object = '${object}'; COMMIT`);

/** What a thief of the second key can write with the role of the service: an entry in that place, and the end of its key. */
async function forge(tenantId: string, number: bigint): Promise<void> {
  const [previous] = await database.query<{ hash: Buffer }>(
    sql`SELECT hash FROM audit_entries WHERE tenant_id = ${tenantId} AND number = ${(number - 1n).toString()}`,
  );
  const entry = act(tenantId, "forged");
  const hash = chainHash(keys.third, "invented", previous?.hash ?? Buffer.alloc(32), number, entry);
  await database.query(sql`
    INSERT INTO audit_entries (tenant_id, number, occurred_at, actor, action, object, outcome, repeated, hash, key_id)
    VALUES (${tenantId}, ${number.toString()}, ${entry.occurredAt}, ${entry.actor}, ${entry.action}, ${entry.object},
      ${entry.outcome}, ${entry.repeated}, ${Buffer.from(hash ?? [])}, 'invented')`);
  const end = sealKeyEnd(keys.second, { tenantId, endedKeyId: "invented", number });
  await database.query(sql`
    INSERT INTO audit_key_ends (tenant_id, ended_key_id, number, key_id, mac)
    VALUES (${tenantId}, 'invented', ${number.toString()}, 'two', ${Buffer.from(end.mac)})`);
}

const shown = async (tenantId: string) => {
  const list = createAuditList(createAuditStore(database), listing("three"));
  const { items } = await list({ tenantId, filter: {}, limit: 100, before: undefined });
  return items.map(({ object }) => object);
};

/** Where the chain is broken, for a reseal with the third key. */
const breaksOf = async (tenantId: string) => {
  const { brokenChains } = await endOtherKeys(withKeys(database, keys.third), new Date());
  return brokenChains.filter((chain) => chain.tenantId === tenantId).map(({ number }) => number);
};

it("an entry of an invented key in the place of one that was removed does not count after a reseal", async () => {
  const [whole, cut] = [await createChain(), await createChain()];
  await remove(cut, "a");
  await forge(cut, 2n);
  const third = withKeys(database, keys.third);
  const { brokenChains, unusedKeys } = await endOtherKeys(third, new Date(), { acceptsBroken: true });
  expect(await shown(cut)).not.toContain("forged");
  expect(brokenChains).toEqual([{ tenantId: cut, number: 3n }]);
  expect(unusedKeys).toEqual(["invented"]);
  // What the first key has written counts as before, if nothing after it was removed.
  expect(await shown(whole)).toEqual(expect.arrayContaining(["begin", "a", "b", "c", "e"]));
  expect(await shown(cut)).toEqual(expect.arrayContaining(["c", "e"]));
});

it("a head that was changed, and entries that were inserted then, keep no earlier key from being carried on", async () => {
  const tenantId = await createChain();
  const second = createAuditStore(withKeys(database, keys.second));
  await database.run(`
    UPDATE audit_heads SET number = number + 1 WHERE tenant_id = '${tenantId}';
    INSERT INTO audit_entries (tenant_id, number, occurred_at, actor, action, object, outcome, repeated, hash, key_id)
    SELECT tenant_id, number, now(), 'operator', 'test.act', 'inserted', 'succeeded', 1, hash, 'two'
    FROM audit_heads WHERE tenant_id = '${tenantId}'`);
  await second.append([act(tenantId, "f")]);
  expect(await breaksOf(tenantId)).toEqual([]);
  const objects = await shown(tenantId);
  expect(objects).toEqual(expect.arrayContaining(["begin", "a", "b", "c", "e", "f"]));
  expect(objects).not.toContain("inserted");
});

it("a chain in which an entry was inserted is left as it is, so that a reseal after its repair carries the earlier key on", async () => {
  const tenantId = await createChain();
  await database.run(`
    INSERT INTO audit_entries (tenant_id, number, occurred_at, actor, action, object, outcome, repeated, hash, key_id)
    SELECT tenant_id, number + 1, now(), 'operator', 'test.act', 'stray', 'succeeded', 1, hash, 'two'
    FROM audit_heads WHERE tenant_id = '${tenantId}'`);
  expect(await breaksOf(tenantId)).toEqual([8n]);
  await remove(tenantId, "stray");
  expect(await breaksOf(tenantId)).toEqual([]);
  expect(await shown(tenantId)).toEqual(expect.arrayContaining(["begin", "a", "b", "c", "e"]));
});
