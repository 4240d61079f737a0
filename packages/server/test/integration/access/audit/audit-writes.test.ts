import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { verifyAudit } from "../../../../src/app/audit/audit-chain.js";
import { type AuditDraft, type AuditWrite, describeAct } from "../../../../src/app/audit/audit-entry.js";
import { positionMac } from "../../../../src/app/audit/chain-hash.js";
import { createAuditStore } from "../../../../src/store/access/audit.js";
import { openDatabase, withKeys } from "../../../../src/store/core/database.js";
import { OutcomeUnknownError } from "../../../../src/store/core/database-unavailable-error.js";
import type { Statement } from "../../../../src/store/core/sql.js";
import { createLostCommitProxy, type LostCommitProxy } from "../../../harness/database/lost-commit-proxy.js";
import { eventually } from "../../../harness/eventually.js";
import { inspectSharedService } from "../../../harness/service/shared-service.js";

const service = await inspectSharedService();

const begun = (tenantId: string): AuditDraft =>
  describeAct({ by: "operator", tenantId }, "tenant.create", "x", new Date());
const act = (tenantId: string): AuditDraft => ({ ...begun(tenantId), action: "client.create" });
const newIds = (count: number): string[] => Array.from({ length: count }, () => crypto.randomUUID());

describe("a write of audit entries", () => {
  let proxy: LostCommitProxy;
  const store = createAuditStore(withKeys(service.database, service.keys));
  beforeAll(async () => {
    proxy = await createLostCommitProxy(service.database.url);
  });
  afterAll(() => proxy.close());

  it("needs no more statements for many tenants than for one, and keeps their chains valid", async () => {
    const statements: Statement[] = [];
    const { transaction, ...rest } = withKeys(service.database, service.keys);
    const observed = createAuditStore({
      ...rest,
      transaction: (work) =>
        transaction((tx) =>
          work({
            ...tx,
            query: (statement) => {
              statements.push(statement);
              return tx.query(statement);
            },
          }),
        ),
    });
    const tenantIds = newIds(60);
    await observed.append(tenantIds.map(begun));
    expect(statements.length).toBeLessThanOrEqual(4);
    await observed.append(tenantIds.flatMap((id) => [act(id), act(id)]));
    expect(statements.length).toBeLessThanOrEqual(8);
    const verdicts = await verifyAudit({ store, keys: service.keys, tenantIds });
    const own = verdicts.filter(({ tenantId }) => tenantIds.includes(tenantId));
    expect(own.map(({ fault }) => fault)).toEqual(tenantIds.map(() => undefined));
    const [first = ""] = tenantIds;
    expect((await store.list(first, 10, undefined)).map(({ number }) => number)).toEqual([3n, 2n, 1n]);
  });

  it.each([
    ["was committed", true],
    ["was not committed", false],
  ])(
    "is repeated without doubling an entry if the answer to COMMIT is lost and it %s",
    async (_, executed) => {
      const tenantIds = newIds(3);
      await store.append(tenantIds.map(begun));
      const behind = openDatabase({ url: proxy.url, connectionsMax: 2 });
      const lossy = createAuditStore(withKeys(behind, service.keys));
      const write: AuditWrite = {
        writerId: crypto.randomUUID(),
        number: 7,
        settledBelow: 7,
        attempts: [],
      };
      proxy.loseNext("audit_writes", executed);
      await expect(lossy.append(tenantIds.map(act), write)).rejects.toThrow(OutcomeUnknownError);
      await sleep(50);
      for (let repeat = 0; repeat < 2; repeat += 1) await lossy.append(tenantIds.map(act), write);
      for (const id of tenantIds) expect(await store.list(id, 10, undefined)).toHaveLength(2);
      // Somebody who inserts the number of the next write does not make its entries disappear.
      await service.database.run(`UPDATE audit_writes SET number = 8 WHERE writer_id = '${write.writerId}'`);
      await lossy.append(tenantIds.map(act), { ...write, number: 8, settledBelow: 8, attempts: [] });
      for (const id of tenantIds) expect(await store.list(id, 10, undefined)).toHaveLength(3);
      await behind.close();
    },
  );

  it.each(["before", "after"])(
    "is repeated if its COMMIT has failed, although somebody has inserted its row %s",
    async (when) => {
      const [tenantId = ""] = newIds(1);
      await store.append([begun(tenantId)]);
      const behind = openDatabase({ url: proxy.url, connectionsMax: 2 });
      const lossy = createAuditStore(withKeys(behind, service.keys));
      const write: AuditWrite = {
        ...{ writerId: crypto.randomUUID(), number: 7, settledBelow: 7, attempts: [] },
      };
      const forge = () =>
        service.database.run(`INSERT INTO audit_writes VALUES ('${write.writerId}', 7, now())`);
      if (when === "before") await forge();
      proxy.loseNext("audit_writes", false);
      await expect(lossy.append([act(tenantId)], write)).rejects.toThrow(OutcomeUnknownError);
      if (when === "after") await forge();
      for (let repeat = 0; repeat < 2; repeat += 1) await lossy.append([act(tenantId)], write);
      expect(await store.list(tenantId, 10, undefined)).toHaveLength(2);
      await behind.close();
    },
  );

  it.each([
    ["is not repeated if its entries of one log were exported and removed since", true],
    [
      "is repeated if somebody else has removed its entries of one log, and says that they were exported",
      false,
    ],
  ])("%s", async (_, isExported) => {
    const tenantIds = newIds(2);
    await store.append(tenantIds.map(begun));
    const behind = openDatabase({ url: proxy.url, connectionsMax: 2 });
    const lossy = createAuditStore(withKeys(behind, service.keys));
    const write: AuditWrite = {
      ...{ writerId: crypto.randomUUID(), number: 7, settledBelow: 7, attempts: [] },
    };
    proxy.loseNext("audit_writes", true);
    await expect(lossy.append(tenantIds.map(act), write)).rejects.toThrow(OutcomeUnknownError);
    const [removed, kept] = write.attempts[0] ?? [];
    if (removed === undefined || kept === undefined) throw new Error("nothing was placed");
    await eventually(
      () => store.list(removed.tenantId, 10, undefined),
      ({ length }) => length === 2,
    );
    const hex = (bytes: Uint8Array) => `'\\x${Buffer.from(bytes).toString("hex")}'`;
    const { keyId, mac } = positionMac(service.keys, "base", isExported ? removed : kept);
    await service.database.run(`
      BEGIN; SET LOCAL session_replication_role = replica;
      DELETE FROM audit_entries WHERE tenant_id = '${removed.tenantId}';
      INSERT INTO audit_bases (tenant_id, number, hash, key_id, mac, pruned_at)
        VALUES ('${removed.tenantId}', 2, ${hex(removed.hash)}, '${keyId}', ${hex(mac)}, now()); COMMIT`);
    await lossy.append(tenantIds.map(act), write);
    expect(await store.list(kept.tenantId, 10, undefined)).toHaveLength(isExported ? 2 : 3);
    await behind.close();
  });

  it("keeps no attempt that the database has refused to commit", async () => {
    const [tenantId = ""] = newIds(1);
    await store.append([begun(tenantId)]);
    const name = `refuse_${tenantId.replaceAll("-", "")}`;
    await service.database.run(`
      CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'refused'; END $$;
      CREATE CONSTRAINT TRIGGER ${name} AFTER INSERT ON audit_entries DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW WHEN (NEW.tenant_id = '${tenantId}') EXECUTE FUNCTION ${name}()`);
    const write: AuditWrite = {
      ...{ writerId: crypto.randomUUID(), number: 7, settledBelow: 7, attempts: [] },
    };
    await expect(store.append([act(tenantId)], write)).rejects.toThrow("refused");
    expect(write.attempts).toEqual([]);
    await service.database.run(`DROP FUNCTION ${name} CASCADE`);
    await store.append([act(tenantId)], write);
    expect(await store.list(tenantId, 10, undefined)).toHaveLength(2);
  });

  it("is known to be in the log if it was found there, so that its removal is noticed", async () => {
    const [tenantId = ""] = newIds(1);
    await store.append([begun(tenantId)]);
    const behind = openDatabase({ url: proxy.url, connectionsMax: 2 });
    const lossy = createAuditStore(withKeys(behind, service.keys));
    const write: AuditWrite = {
      ...{ writerId: crypto.randomUUID(), number: 7, settledBelow: 7, attempts: [] },
    };
    await service.database.run(`INSERT INTO audit_writes VALUES ('${write.writerId}', 7, now())`);
    proxy.loseNext("audit_writes", false);
    await expect(lossy.append([act(tenantId)], write)).rejects.toThrow(OutcomeUnknownError);
    // The owner of the tables can have seen the entry before it was rolled back.
    const hash = Buffer.from(write.attempts[0]?.[0]?.hash ?? []).toString("hex");
    await service.database.run(`
      INSERT INTO audit_entries SELECT (jsonb_populate_record(e, '{"number": 2, "hash": "\\\\x${hash}"}')).*
      FROM audit_entries e WHERE e.tenant_id = '${tenantId}'`);
    await lossy.append([act(tenantId)], write);
    await service.database.run(`
      BEGIN; SET LOCAL session_replication_role = replica;
      DELETE FROM audit_entries WHERE tenant_id = '${tenantId}' AND number = 2; COMMIT`);
    await lossy.append([act(tenantId)]);
    expect((await store.list(tenantId, 10, undefined)).map(({ code }) => code)).toContain("HEAD_PUT_BACK");
    await behind.close();
  });
});
