import { afterEach, describe, expect, it } from "vitest";
import { type AuditDraft, describeAct } from "../../../src/app/audit/audit-entry.js";
import { appendAudit, createAuditStore } from "../../../src/store/access/audit.js";
import { type Database, openDatabase, withKeys } from "../../../src/store/core/database.js";
import { OutcomeUnknownError } from "../../../src/store/core/database-unavailable-error.js";
import { sql } from "../../../src/store/core/sql.js";
import { createLostCommitProxy, type LostCommitProxy } from "../../harness/database/lost-commit-proxy.js";
import { eventually } from "../../harness/eventually.js";
import { inspectTamperedService } from "../../harness/service/shared-service.js";

const service = await inspectTamperedService();

describe("an audit log from which the owner of the tables removes an entry before its writer knows that it is there", () => {
  const opened: (Database | LostCommitProxy)[] = [];
  afterEach(async () => {
    for (const one of opened.splice(0).reverse()) await one.close();
  });
  /** Knows of the log what a process would that has written to it. */
  const openProcess = (url = service.database.url, statementTimeoutMs = 60_000) => {
    const database = withKeys(openDatabase({ url, connectionsMax: 3, statementTimeoutMs }), service.keys);
    opened.push(database);
    return { database, ...createAuditStore(database) };
  };
  const draft = (tenantId: string, object: string): AuditDraft =>
    describeAct({ by: "operator", tenantId }, "client.create", object, new Date());
  const begin = async ({ append }: ReturnType<typeof openProcess>) => {
    const tenantId = crypto.randomUUID();
    await append([{ ...draft(tenantId, "first"), action: "tenant.create" }]);
    await service.database.run(`
      CREATE TABLE ${copyOf(tenantId)} AS SELECT * FROM audit_heads WHERE tenant_id = '${tenantId}'`);
    return tenantId;
  };
  const copyOf = (tenantId: string) => `head_${tenantId.replaceAll("-", "")}`;
  const cut = (tenantId: string) =>
    service.database.run(`
    BEGIN; SET LOCAL session_replication_role = replica;
    DELETE FROM audit_entries e USING ${copyOf(tenantId)} k WHERE e.tenant_id = k.tenant_id AND e.number > k.number;
    UPDATE audit_heads h SET number = k.number, hash = k.hash, key_id = k.key_id, mac = k.mac
      FROM ${copyOf(tenantId)} k WHERE h.tenant_id = k.tenant_id;
    COMMIT`);
  const read = async (tenantId: string) => {
    const entries = await createAuditStore(service.keyed).list(tenantId, 10, undefined);
    return entries.map(({ number, action, code }) => [Number(number), action, code ?? null]).reverse();
  };
  const noticed = [
    [1, "tenant.create", null],
    // The number of the entry that was removed stays free.
    [3, "audit.head_changed", "HEAD_PUT_BACK"],
    [4, "client.create", null],
  ];
  it("says so if the answer to the COMMIT comes later than the process waits for it", async () => {
    const known = openProcess(undefined, 1000);
    const tenantId = await begin(known);
    const suffix = copyOf(tenantId);
    // Ends the statement no earlier than the owner wants, whatever timeout the session has.
    await service.database.run(`
      CREATE FUNCTION hold_${suffix}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        LOOP
          BEGIN PERFORM pg_advisory_xact_lock(hashtext('${tenantId}')); EXIT; EXCEPTION WHEN query_canceled THEN NULL; END;
        END LOOP;
        RETURN NULL;
      END $$;
      CREATE CONSTRAINT TRIGGER hold_${suffix} AFTER INSERT ON audit_entries DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW WHEN (NEW.tenant_id = '${tenantId}') EXECUTE FUNCTION hold_${suffix}()`);
    await service.database.session(async (owner) => {
      await owner.script(`SELECT pg_advisory_lock(hashtext('${tenantId}'))`);
      await expect(known.append([draft(tenantId, "hidden")])).rejects.toThrow(OutcomeUnknownError);
      await owner.script(`SELECT pg_advisory_unlock(hashtext('${tenantId}'))`);
    });
    await eventually(
      () => read(tenantId),
      ({ length }) => length === 2,
    );
    await service.database.run(`DROP FUNCTION hold_${suffix} CASCADE`);
    await cut(tenantId);
    await known.append([draft(tenantId, "later")]);
    expect(await read(tenantId)).toEqual(noticed);
  });

  it.each([
    ["says so if the answer to the COMMIT is lost", true],
    ["says nothing if the answer is lost and nothing was committed", false],
  ])("%s", async (_, executed) => {
    const proxy = await createLostCommitProxy(service.database.url);
    opened.push(proxy);
    const known = openProcess(proxy.url);
    const tenantId = await begin(openProcess());
    proxy.loseNext("audit_heads", executed);
    await expect(known.append([draft(tenantId, "hidden")])).rejects.toThrow(OutcomeUnknownError);
    if (executed)
      await eventually(
        () => read(tenantId),
        ({ length }) => length === 2,
      );
    await cut(tenantId);
    await known.append([draft(tenantId, "later")]);
    const undisturbed = [
      [1, "tenant.create", null],
      [2, "client.create", null],
    ];
    expect(await read(tenantId)).toEqual(executed ? noticed : undisturbed);
    await known.append([draft(tenantId, "last")]);
    expect((await read(tenantId)).filter(([, action]) => action === "audit.head_changed")).toHaveLength(
      executed ? 1 : 0,
    );
  });

  it("says so if the answer is lost, and the next writer has begun to write something else before", async () => {
    const proxy = await createLostCommitProxy(service.database.url);
    opened.push(proxy);
    const known = openProcess(proxy.url);
    const tenantId = await begin(openProcess());
    await known.database.transaction(async (tx) => {
      // Its id is lower than that of the transaction that it asks about.
      await tx.query(sql`SELECT pg_current_xact_id()`);
      proxy.loseNext("audit_heads", true);
      await expect(known.append([draft(tenantId, "hidden")])).rejects.toThrow(OutcomeUnknownError);
      await eventually(
        () => read(tenantId),
        ({ length }) => length === 2,
      );
      await cut(tenantId);
      await appendAudit(tx, [draft(tenantId, "later")]);
    });
    expect(await read(tenantId)).toEqual(noticed);
  });

  it("says so if the next writer of the process has waited for the owner meanwhile", async () => {
    const known = openProcess();
    const tenantId = await begin(known);
    await known.database.transaction(async (tx) => {
      let isCut = false;
      const query: typeof tx.query = async (statement) => {
        // As if it had waited for the lock of another writer, and then for that of the owner.
        if (/FOR UPDATE OF h/.test(statement.text) && !isCut) {
          isCut = true;
          await known.append([draft(tenantId, "hidden")]);
          await cut(tenantId);
        }
        return tx.query(statement);
      };
      await appendAudit({ ...tx, query }, [draft(tenantId, "later")]);
    });
    expect(await read(tenantId)).toEqual(noticed);
  });
});
