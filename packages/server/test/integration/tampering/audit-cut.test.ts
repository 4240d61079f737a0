import { readId } from "@bursar/protocol";
import { beforeEach, describe, expect, it } from "vitest";
import { verifyAudit } from "../../../src/app/audit/audit-chain.js";
import { createAuditStore } from "../../../src/store/access/audit.js";
import { eventually } from "../../harness/eventually.js";
import { inspectTamperedService } from "../../harness/service/shared-service.js";

const service = await inspectTamperedService();

describe("an audit log whose newest entries the owner of the tables removes", () => {
  let token: string;
  let tenantId: string;
  beforeEach(async () => {
    const begin = async () => {
      const owner = await service.createTenant();
      return { tenantId: readId("tnt", owner.tenantId) ?? "", token: await service.token(owner) };
    };
    const begun = await eventually(
      () => begin().catch(() => undefined),
      (tenant) => tenant !== undefined,
    );
    ({ tenantId, token } = begun ?? { tenantId: "", token: "" });
    await eventually(read, (data) => data[0]?.action === "token.issue");
  });

  // While the process begins a new epoch, which can be that of the test before, it refuses.
  const read = async () => {
    const ask = async () =>
      (await (await service.call("GET", "/v1/audit", token)).json()) as {
        data?: { number: number; action: string; object: string | null; code: string | null }[];
      };
    return (await eventually(ask, ({ data }) => data !== undefined)).data ?? [];
  };
  const act = (name: string, call = service.call) =>
    eventually(
      () => call("POST", "/v1/clients", token, { name, scopes: [] }),
      ({ status }) => status === 201,
    );
  const copyOf = () => `head_${tenantId.replaceAll("-", "")}`;
  const keepHead = () =>
    service.database.run(
      `CREATE TABLE ${copyOf()} AS SELECT * FROM audit_heads WHERE tenant_id = '${tenantId}'`,
    );
  const cut = () =>
    service.database.run(`
      ALTER TABLE audit_entries DISABLE TRIGGER USER;
      DELETE FROM audit_entries e USING ${copyOf()} k WHERE e.tenant_id = k.tenant_id AND e.number > k.number;
      UPDATE audit_heads h SET number = k.number, hash = k.hash, key_id = k.key_id, mac = k.mac
        FROM ${copyOf()} k WHERE h.tenant_id = k.tenant_id;
      ALTER TABLE audit_entries ENABLE TRIGGER USER;
      DROP TABLE ${copyOf()}`);
  const verdict = async () => {
    const store = createAuditStore(service.database);
    const verdicts = await verifyAudit({ store, keys: service.keys, tenantIds: [tenantId] });
    return verdicts.find((one) => one.tenantId === tenantId);
  };
  const fault = async () => (await verdict())?.fault;

  it("says so in its next entry, although the head that was put back has a valid MAC", async () => {
    const before = (await read())[0]?.number ?? 0;
    await keepHead();
    await act("hidden");
    await act("hidden too");
    await cut();
    expect(await fault()).toBeUndefined();
    await act("later");
    const [later, changed] = await read();
    expect(later?.action).toBe("client.create");
    // The numbers of the entries that were removed stay free.
    expect(changed).toMatchObject({
      ...{ number: before + 3, action: "audit.head_changed", object: `entry ${before}` },
      code: "HEAD_PUT_BACK",
    });
    expect(await fault()).toBeDefined();
    // Once, and not again for the same cut.
    await act("last");
    expect((await read()).filter(({ action }) => action === "audit.head_changed")).toHaveLength(1);
  });

  it.each([
    [
      "a forged row",
      "INSERT INTO database_epochs (number, reason) SELECT max(number) + 1, 'restored' FROM database_epochs",
    ],
    ["a row that was written again", "UPDATE database_epochs SET reason = reason"],
    [
      "connections that end",
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
    ],
  ])("says so also if %s makes the process begin a new epoch", async (_name, beginEpoch) => {
    const before = (await read())[0]?.number ?? 0;
    await keepHead();
    await act("hidden");
    await act("hidden too");
    const last = (await read())[0]?.number ?? 0;
    await cut();
    await service.database.run(beginEpoch);
    await act("later");
    const log = await read();
    const said = log.find(({ action }) => /^audit\.(head_changed|entries_lost)$/.test(action));
    expect([`entry ${before}`, `entry ${last}`], JSON.stringify(log)).toContain(said?.object);
    const { fault: found, losses } = (await verdict()) ?? {};
    expect(found !== undefined || losses === 1).toBe(true);
    // The connections of the test look at it too, so that the next test does not begin in the epoch before.
    await eventually(
      () =>
        service.database.identify().then(
          () => true,
          () => false,
        ),
      (isIdentified) => isIdentified,
    );
  });

  it("says so also if another process has written entries in their place", async () => {
    await keepHead();
    await act("hidden");
    await cut();
    const another = await service.another();
    try {
      await act("other", another.call);
      await act("other too", another.call);
      await act("later");
      expect((await read())[1]).toMatchObject({ action: "audit.head_changed", code: "HEAD_PUT_BACK" });
    } finally {
      await another.stop();
    }
  });

  it("says so also if the entry in that place is out of the table at that moment", async () => {
    await keepHead();
    await act("hidden");
    const number = (await read())[0]?.number ?? 0;
    await cut();
    const another = await service.another();
    try {
      await act("other", another.call);
      await act("other too", another.call);
    } finally {
      await another.stop();
    }
    const place = `tenant_id = '${tenantId}' AND number = ${number}`;
    const row = `row_${tenantId.replaceAll("-", "")}`;
    const unguarded = (script: string) =>
      service.database.run(`
        ALTER TABLE audit_entries DISABLE TRIGGER USER; ${script}; ALTER TABLE audit_entries ENABLE TRIGGER USER`);
    await unguarded(`
      CREATE TABLE ${row} AS SELECT * FROM audit_entries WHERE ${place}; DELETE FROM audit_entries WHERE ${place}`);
    await act("later");
    await unguarded(`INSERT INTO audit_entries SELECT * FROM ${row}; DROP TABLE ${row}`);
    expect((await read())[1]).toMatchObject({ action: "audit.head_changed", code: "HEAD_PUT_BACK" });
    expect(await fault()).toBeDefined();
  });
});
