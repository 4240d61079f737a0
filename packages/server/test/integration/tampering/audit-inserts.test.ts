import { readId, showId } from "@bursar/protocol";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { verifyAudit } from "../../../src/app/audit/audit-chain.js";
import { createAuditStore } from "../../../src/store/access/audit.js";
import { sql } from "../../../src/store/core/sql.js";
import { createServiceRole, type ServiceRole } from "../../harness/database/service-role.js";
import { eventually } from "../../harness/eventually.js";
import { inspectTamperedService } from "../../harness/service/shared-service.js";
import type { TestClient } from "../../harness/service/test-service.js";

const service = await inspectTamperedService();

interface Entry {
  number: number;
  action: string;
  object: string | null;
  code: string | null;
}

describe("an audit log that the role of the service writes to by hand", () => {
  let role: ServiceRole;
  let owner: TestClient;
  let token: string;
  let tenantId: string;
  beforeAll(async () => {
    role = await createServiceRole(service.database);
  });
  afterAll(() => role?.drop());
  beforeEach(async () => {
    owner = await service.createTenant();
    token = await service.token(owner);
    tenantId = readId("tnt", owner.tenantId) ?? "";
    // The entry of the token is written after its answer.
    await eventually(read, (data) => data[0]?.action === "token.issue");
  });

  const read = async (query = "?limit=200") =>
    ((await (await service.call("GET", `/v1/audit${query}`, token)).json()) as { data: Entry[] }).data;
  const act = async (name: string) =>
    (await service.call("POST", "/v1/clients", token, { name, scopes: [] })).status;
  const readHead = async () => {
    const heads = await createAuditStore(service.database).listHeads();
    const head = heads.find((one) => one.tenantId === tenantId);
    if (head === undefined) throw new Error("the log has no head");
    return head;
  };
  const fault = async () => {
    const store = createAuditStore(service.database);
    const verdicts = await verifyAudit({ store, keys: service.keys, tenantIds: [tenantId] });
    return verdicts.find((verdict) => verdict.tenantId === tenantId)?.fault;
  };
  const forge = (number: bigint | number) =>
    role.run(`
      INSERT INTO audit_entries (tenant_id, number, occurred_at, actor, client_id, action, outcome, repeated, hash, key_id)
      SELECT tenant_id, ${number}, now(), 'client', gen_random_uuid(), 'test.forged', 'succeeded', 1, sha256('x'), key_id
      FROM audit_heads WHERE tenant_id = '${tenantId}'`);
  const actions = async () => (await read()).map(({ action }) => action);

  it("goes on after a number that was taken, records that, and does not show the forged entry", async () => {
    const { number } = await readHead();
    await forge(number + 1n);
    expect(await fault()).toContain(`entry ${number + 1n} is after the head`);
    expect(await actions()).not.toContain("test.forged");
    expect(await act("one")).toBe(201);
    expect(await act("two")).toBe(201);
    const [two, one, changed, ...before] = await read();
    expect([two?.action, one?.action]).toEqual(["client.create", "client.create"]);
    expect(changed).toMatchObject({
      number: Number(number) + 2,
      action: "audit.head_changed",
      object: `entry ${number}`,
      code: "ENTRY_NUMBER_TAKEN",
    });
    expect(before.map((entry) => entry.number)).toEqual([3, 2, 1]);
    expect(await fault()).toContain(`entry ${number + 1n} was changed`);
  });

  it("shows an entry far ahead at once, and goes on when it is reached", async () => {
    const { number } = await readHead();
    await forge(number + 4n);
    expect(await fault()).toContain(`entry ${number + 4n} is after the head`);
    for (let count = 0; count < 5; count++) expect(await act(`client ${count}`)).toBe(201);
    // With that of the tenant's first client.
    expect((await actions()).filter((action) => action === "client.create")).toHaveLength(6);
    expect((await actions()).filter((action) => action === "audit.head_changed")).toHaveLength(1);
    expect(await fault()).toBeDefined();
  });

  it("goes on although the highest number is taken", async () => {
    const { number } = await readHead();
    await forge(9_223_372_036_854_775_807n);
    await forge(number + 1n);
    expect(await act("one")).toBe(201);
    expect((await readHead()).number).toBe(number + 3n);
  });

  it.each([-3, 0])("cannot get an entry with the number %s", async (number) => {
    await expect(forge(number)).rejects.toThrow("audit_entries_number_check");
  });

  it("does not show an entry in the place of one that was removed, and says that it is there", async () => {
    await act("one");
    const { number } = await readHead();
    await service.database.run(`BEGIN; SELECT set_config('bursar.audit_prune', 'on', true);
      INSERT INTO audit_bases (tenant_id, number, hash, key_id, mac, pruned_at)
        SELECT tenant_id, number, hash, key_id, '', now() FROM audit_entries WHERE tenant_id = '${tenantId}' AND number = 3;
      DELETE FROM audit_entries WHERE tenant_id = '${tenantId}' AND number <= 3; COMMIT`);
    await forge(2);
    expect((await read()).map((entry) => entry.number)).toEqual([Number(number)]);
    const strays = await createAuditStore(service.database).listStrays();
    expect(strays.filter((stray) => stray.tenantId === tenantId)).toMatchObject([{ number: 2n }]);
  });

  it.each([
    ["an earlier one", (head: string) => head],
    ["a later one", () => "number = number + 9000000, mac = NULL"],
    ["the beginning", () => "number = 0, hash = decode(repeat('00', 32), 'hex'), mac = NULL, key_id = NULL"],
  ])("goes on, and shows it, if its head was replaced by %s", async (_what, replace) => {
    const { number, hash, mac } = await readHead();
    const hex = (bytes: Uint8Array | null) => `'\\x${Buffer.from(bytes ?? []).toString("hex")}'`;
    expect(await act("hidden")).toBe(201);
    const earlier = `number = ${number}, hash = ${hex(hash)}, mac = ${hex(mac)}`;
    await role.run(`UPDATE audit_heads SET ${replace(earlier)} WHERE tenant_id = '${tenantId}'`);
    expect(await fault()).toBeDefined();
    expect(await act("one")).toBe(201);
    expect(await act("two")).toBe(201);
    const newest = ["client.create", "client.create", "audit.head_changed", "client.create", "token.issue"];
    expect((await actions()).slice(0, 5)).toEqual(newest);
    expect(await fault()).toContain("records that the head of the chain was changed");
    expect((await readHead()).number).toBe(number + 4n);
  });

  it("lets the tenant freeze wallets and the operator suspend it after the attack", async () => {
    const { number } = await readHead();
    await forge(number + 1n);
    const [wallet] = await service.database.query<{ id: string }>(
      sql`SELECT id FROM wallets WHERE tenant_id = ${tenantId} LIMIT 1`,
    );
    const frozen = await service.call(
      "POST",
      `/v1/wallets/${showId("wlt", wallet?.id ?? "")}/freeze`,
      token,
      {},
    );
    expect(frozen.status).toBe(200);
    await service.setTenantSuspended(owner, true);
    expect((await readHead()).number).toBeGreaterThan(number + 1n);
  });
});
