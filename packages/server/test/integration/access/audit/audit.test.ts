import { readId } from "@bursar/protocol";
import { beforeEach, describe, expect, it } from "vitest";
import { verifyAudit } from "../../../../src/app/audit/audit-chain.js";
import { nilTenantId } from "../../../../src/app/audit/audit-entry.js";
import { chainStart, unkeyedHash } from "../../../../src/app/audit/chain-hash.js";
import { createAuditStore } from "../../../../src/store/access/audit.js";
import { eventually } from "../../../harness/eventually.js";
import { inspectSharedService } from "../../../harness/service/shared-service.js";
import type { TestClient } from "../../../harness/service/test-service.js";

const service = await inspectSharedService();

interface Entry {
  number: number;
  action: string;
  outcome: string;
  code: string | null;
  request_id: string | null;
  repeated: number;
}

describe("the audit log", () => {
  let owner: TestClient;
  let token: string;
  beforeEach(async () => {
    owner = await service.createTenant();
    token = await service.token(owner);
  });

  const read = async (query = "") =>
    (await (await service.call("GET", `/v1/audit${query}`, token)).json()) as {
      data: Entry[];
      next_cursor: string | null;
    };
  /** The faults in the chain of this tenant; other tests tamper with the chains of other tenants. */
  const faults = async () => {
    const own = readId("tnt", owner.tenantId) ?? "";
    const store = createAuditStore(service.database);
    const verdicts = await verifyAudit({ store, keys: service.keys, tenantIds: [own] });
    return verdicts.flatMap(({ tenantId, fault }) => (tenantId === own ? (fault ?? []) : []));
  };
  /** Runs a statement as an attacker with the database's password could. */
  const tamper = (statement: string) =>
    service.database.run(
      `ALTER TABLE audit_entries DISABLE TRIGGER ALL; ${statement}; ALTER TABLE audit_entries ENABLE TRIGGER ALL`,
    );

  it("records the client, the action, the address and the request id", async () => {
    await service.call(
      "POST",
      "/v1/clients",
      token,
      { name: "made", scopes: [] },
      { "x-request-id": "the-request" },
    );
    const { data } = await read();
    expect(data.find(({ request_id }) => request_id === "the-request")).toMatchObject({
      actor: "client",
      client_id: owner.clientId,
      token_id: expect.stringMatching(/^tok_/),
      action: "client.create",
      object: expect.stringMatching(/^cli_/),
      outcome: "succeeded",
      request_id: "the-request",
      address: "127.0.0.1",
    });
    expect(data.at(-1)).toMatchObject({
      number: 1,
      actor: "operator",
      action: "tenant.create",
      object: owner.tenantId,
    });
  });

  it("records refused attempts, merges equal ones, and keeps unauthenticated ones in a separate chain", async () => {
    const narrow = await service.token(owner, "audit:read");
    await Promise.all(Array.from({ length: 50 }, () => service.call("GET", "/v1/clients", narrow)));
    await Promise.all(Array.from({ length: 50 }, () => service.call("GET", "/v1/clients", undefined)));
    const refused = async () => (await read()).data.filter(({ code }) => code === "INSUFFICIENT_SCOPE");
    const entries = await eventually(
      refused,
      (found) => found.reduce((sum, { repeated }) => sum + repeated, 0) === 50,
    );
    // How many are merged depends on how fast they come.
    expect(entries.length).toBeLessThan(50);
    expect(entries[0]).toMatchObject({ action: "GET /v1/clients", outcome: "refused" });
    await eventually(
      () => createAuditStore(service.database).list(nilTenantId, 10, undefined),
      (anonymous) => anonymous.some(({ code }) => code === "UNAUTHENTICATED"),
    );
    expect(await faults()).toEqual([]);
  });

  it("is one unbroken chain, even with many concurrent writers", async () => {
    await Promise.all(
      Array.from({ length: 30 }, () =>
        service.call("POST", "/v1/clients", token, { name: "made", scopes: [] }),
      ),
    );
    const { data } = await read("?limit=200");
    expect(data.map(({ number }) => number)).toEqual(
      Array.from({ length: data.length }, (_, index) => data.length - index),
    );
    expect(await faults()).toEqual([]);
  });

  it("shows that all of a tenant's entries were removed, before and after the next one", async () => {
    const own = readId("tnt", owner.tenantId) ?? "";
    await tamper(`DELETE FROM audit_entries WHERE tenant_id = '${own}';
      UPDATE audit_heads SET number = 0, hash = decode(repeat('00', 32), 'hex'), key_id = NULL, mac = NULL
        WHERE tenant_id = '${own}'`);
    expect(await faults()).toEqual(["the chain is empty: its entries were removed"]);
    await service.call("POST", "/v1/clients", token, { name: "made", scopes: [] });
    // The service knows how many it has written, and does not use their numbers again.
    expect(await faults()).toEqual([expect.stringContaining("entry 1 is missing")]);
  });

  it("shows that all of a tenant's entries and its head were removed", async () => {
    const own = readId("tnt", owner.tenantId) ?? "";
    await tamper(`DELETE FROM audit_entries WHERE tenant_id = '${own}'`);
    await service.database.run(`ALTER TABLE audit_heads DISABLE TRIGGER ALL;
      DELETE FROM audit_heads WHERE tenant_id = '${own}'; ALTER TABLE audit_heads ENABLE TRIGGER ALL`);
    expect(await faults()).toEqual(["the head of the chain is missing"]);
    await service.call("POST", "/v1/clients", token, { name: "made", scopes: [] });
    expect(await faults()).toEqual([expect.stringContaining("entry 1 is missing")]);
  });

  it("is read a page at a time", async () => {
    await Promise.all(
      Array.from({ length: 5 }, () =>
        service.call("POST", "/v1/clients", token, { name: "made", scopes: [] }),
      ),
    );
    const first = await read("?limit=3");
    const second = await read(`?limit=3&cursor=${first.next_cursor}`);
    expect([...first.data, ...second.data].map(({ number }) => number)).toEqual(
      Array.from({ length: 6 }, (_, index) => (first.data[0]?.number ?? 0) - index),
    );
  });

  it("verifies while it is being written", async () => {
    let writing = true;
    const writer = (async () => {
      while (writing) await service.call("POST", "/v1/clients", token, { name: "made", scopes: [] });
    })();
    for (let count = 0; count < 10; count++) expect(await faults()).toEqual([]);
    writing = false;
    await writer;
  });

  it("shows a tenant failed authentications of its clients, and requests with a revoked token", async () => {
    const basic = (secret: string) => ({
      authorization: `Basic ${Buffer.from(`${owner.clientId}:${secret}`).toString("base64")}`,
    });
    const post = (path: string, secret: string, form: Record<string, string>) =>
      fetch(service.url + path, { method: "POST", headers: basic(secret), body: new URLSearchParams(form) });
    await post("/oauth/token", "bsk_wrong", { grant_type: "client_credentials" });
    const other = await service.token(owner);
    await post("/oauth/revoke", owner.secret, { token: other });
    await service.call("GET", `/v1/clients/${owner.clientId}`, other);
    const found = await eventually(
      async () => (await read("?limit=200")).data,
      (data) =>
        data.some(({ code }) => code === "TOKEN_REVOKED") &&
        data.some(({ code }) => code === "invalid_client"),
    );
    expect(found.find(({ code }) => code === "invalid_client")).toMatchObject({
      actor: "anonymous",
      action: "token.issue",
      object: owner.clientId,
    });
    expect(found.find(({ code }) => code === "TOKEN_REVOKED")).toMatchObject({
      actor: "client",
      client_id: owner.clientId,
      object: owner.clientId,
    });
  });

  it("is append-only", async () => {
    for (const statement of [
      "UPDATE audit_entries SET action = 'x'",
      "DELETE FROM audit_entries",
      "TRUNCATE audit_entries",
    ]) {
      await expect(service.database.run(statement)).rejects.toThrow("append-only");
    }
  });

  it.each([
    [
      "a changed entry",
      "UPDATE audit_entries SET action = 'other' WHERE number = 2 AND tenant_id = '$'",
      "entry 2 was changed",
    ],
    [
      "an entry that took another's place",
      "UPDATE audit_entries SET hash = (SELECT hash FROM audit_entries WHERE number = 1 AND tenant_id = '$') WHERE number = 2 AND tenant_id = '$'",
      "entry 2 was changed",
    ],
    [
      "a removed entry",
      "DELETE FROM audit_entries WHERE number = 2 AND tenant_id = '$'",
      "entry 2 is missing",
    ],
    [
      "a removed head",
      "ALTER TABLE audit_heads DISABLE TRIGGER ALL; DELETE FROM audit_heads WHERE tenant_id = '$'; ALTER TABLE audit_heads ENABLE TRIGGER ALL",
      "head of the chain is missing",
    ],
    [
      "a removed end",
      "DELETE FROM audit_entries WHERE number = (SELECT max(number) FROM audit_entries WHERE tenant_id = '$') AND tenant_id = '$'",
      "but its head is entry",
    ],
  ])("shows %s", async (_what, statement, fault) => {
    await service.call("POST", "/v1/clients", token, { name: "made", scopes: [] });
    await eventually(
      async () => (await read()).data.length,
      (count) => count >= 4,
    );
    await tamper(statement.replaceAll("$", readId("tnt", owner.tenantId) ?? ""));
    expect(await faults()).toEqual([expect.stringContaining(fault)]);
  });

  /** The entries of this tenant, once there are some beyond its creation. */
  const entries = async () => {
    await service.call("POST", "/v1/clients", token, { name: "made", scopes: [] });
    const tenantId = readId("tnt", owner.tenantId) ?? "";
    const found = await eventually(
      () => createAuditStore(service.database).listAscending(tenantId, 100, 0n),
      (all) => all.length >= 4,
    );
    return { tenantId, found };
  };
  const hex = (bytes: Uint8Array) => `'\\x${Buffer.from(bytes).toString("hex")}'`;

  it("shows that its last entries were removed and the head moved back", async () => {
    const { tenantId, found } = await entries();
    const kept = found[1];
    if (kept === undefined) throw new Error("two entries were expected");
    await tamper(
      `DELETE FROM audit_entries WHERE number > 2 AND tenant_id = '${tenantId}';
       UPDATE audit_heads SET number = 2, hash = ${hex(kept.hash)} WHERE tenant_id = '${tenantId}'`,
    );
    expect(await faults()).toEqual([expect.stringContaining("the head, entry 2, was changed")]);
    // Also after a service has written more that knows nothing of them: it does not continue from such a head in silence.
    const other = await service.another();
    await other.call("POST", "/v1/clients", token, { name: "later", scopes: [] });
    await other.stop();
    expect(await faults()).toEqual([
      expect.stringContaining("entry 3 records that the head of the chain was changed"),
    ]);
  });

  it("shows that it was written again as a whole with SHA-256", async () => {
    const { tenantId, found } = await entries();
    let hash = chainStart;
    const statements = found.map(({ number, hash: _hash, keyId: _keyId, ...entry }) => {
      const action = number === 2n ? "other" : entry.action;
      hash = unkeyedHash(hash, number, { ...entry, action });
      return `UPDATE audit_entries SET action = '${action}', hash = ${hex(hash)}, key_id = NULL WHERE number = ${number} AND tenant_id = '${tenantId}'`;
    });
    await tamper(
      `${statements.join(";")}; UPDATE audit_heads SET hash = ${hex(hash)}, key_id = NULL, mac = NULL WHERE tenant_id = '${tenantId}'`,
    );
    expect(await faults()).toEqual(["no entry of the chain is keyed"]);
    await service.call("POST", "/v1/clients", token, { name: "later", scopes: [] });
    expect(await faults()).toEqual([
      expect.stringContaining("records that the head of the chain was changed"),
    ]);
  });

  it("shows that its last entries were written again with SHA-256", async () => {
    const { tenantId, found } = await entries();
    const last = found.at(-1);
    const before = found.at(-2);
    if (last === undefined || before === undefined) throw new Error("two entries were expected");
    const { number, hash: _hash, keyId: _keyId, ...entry } = last;
    const forged = hex(unkeyedHash(before.hash, number, { ...entry, action: "other" }));
    await tamper(
      `UPDATE audit_entries SET action = 'other', hash = ${forged}, key_id = NULL WHERE number = ${number} AND tenant_id = '${tenantId}';
       UPDATE audit_heads SET hash = ${forged}, key_id = NULL WHERE tenant_id = '${tenantId}'`,
    );
    expect(await faults()).toEqual([`entry ${number} is not keyed, although entries before it are`]);
  });
});
