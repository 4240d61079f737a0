import crypto, { createPublicKey, type JsonWebKey } from "node:crypto";
import { canonicalJson } from "@bursar/domain";
import { eventScopes, mayReadEvents, readId, type Scope } from "@bursar/protocol";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { verifyAudit } from "../../../../src/app/audit/audit-chain.js";
import { type Checkpoint, signCheckpoint } from "../../../../src/app/audit/checkpoint.js";
import { readCheckpoints } from "../../../../src/app/audit/read-checkpoints.js";
import { createAuditStore } from "../../../../src/store/access/audit.js";
import { eventually } from "../../../harness/eventually.js";
import {
  startTestService,
  type TestClient,
  type TestService,
} from "../../../harness/service/test-service.js";

describe("checkpoints of the audit log", () => {
  let service: TestService;
  let owner: TestClient;
  let token: string;
  let tenantId: string;
  beforeAll(async () => {
    service = await startTestService({ "audit.checkpoint_seconds": "1" });
    owner = await service.createTenant();
    token = await service.token(owner);
    tenantId = readId("tnt", owner.tenantId) ?? "";
  });
  afterAll(() => service.stop());

  const makeClient = () => service.call("POST", "/v1/clients", token, { name: "made", scopes: [] });
  const verify = async (checkpoints: Checkpoint[] = []) => {
    const store = createAuditStore(service.database);
    const verdicts = await verifyAudit({ store, keys: service.keys, tenantIds: [tenantId], checkpoints });
    return verdicts.flatMap((verdict) => (verdict.tenantId === tenantId ? (verdict.fault ?? []) : []));
  };
  const logged = () =>
    readCheckpoints(service.logLines.join("\n")).filter(({ tenant_id }) => tenant_id === owner.tenantId);
  /** The checkpoint of the present head. */
  const newestLogged = async (): Promise<Checkpoint> => {
    const { number } = await headOf();
    const found = await eventually(
      async () => logged().find((checkpoint) => checkpoint.number >= Number(number)),
      (checkpoint) => checkpoint !== undefined,
    );
    if (found === undefined) throw new Error("there is no checkpoint");
    return found;
  };
  const headOf = async () => {
    const head = (await createAuditStore(service.database).listHeads()).find(
      (one) => one.tenantId === tenantId,
    );
    if (head === undefined) throw new Error("the tenant has no audit log");
    return head;
  };
  const hex = (bytes: Uint8Array | null) => `'\\x${Buffer.from(bytes ?? []).toString("hex")}'`;

  it("are logged and sent as events, and confirm the chain", async () => {
    await makeClient();
    const { number } = await headOf();
    await eventually(
      async () => logged(),
      (found) => found.some((checkpoint) => checkpoint.number >= Number(number)),
    );
    const events = await (await service.call("GET", "/v1/events?limit=200", token)).text();
    const received = readCheckpoints(
      (JSON.parse(events) as { data: object[] }).data.map((event) => JSON.stringify(event)).join("\n"),
    );
    expect(logged()).toEqual(expect.arrayContaining(received));
    expect(received.length).toBeGreaterThan(0);
    expect(await verify([...logged(), ...received])).toEqual([]);
  });

  it("are verified by a tenant with the published key", async () => {
    await makeClient();
    const { signature, ...statement } = await newestLogged();
    const { keys } = (await (
      await service.call("GET", "/.well-known/bursar-audit-keys.json", undefined)
    ).json()) as { keys: { kid: string; kty: string; crv: string; x: string }[] };
    const jwk = keys.find(({ kid }) => kid === statement.key_id);
    const key = createPublicKey({ key: jwk as JsonWebKey, format: "jwk" });
    const isSigned = (content: object) => {
      const bytes = Buffer.from(`bursar audit checkpoint\n${canonicalJson(content)}`);
      return crypto.verify(null, bytes, key, Buffer.from(signature, "base64url"));
    };
    expect(isSigned(statement)).toBe(true);
    expect(isSigned({ ...statement, number: statement.number + 1 })).toBe(false);
    const tokenKeys = await (await service.call("GET", "/.well-known/jwks.json", undefined)).text();
    expect(tokenKeys).not.toContain(statement.key_id);
  });

  it("are events only for clients that may read the audit log or all events", async () => {
    const events = async (scopes: Scope[]) => {
      const reader = await service.createIndependentClient(owner, scopes);
      return (await service.call("GET", "/v1/events?limit=200", reader.token)).text();
    };
    await makeClient();
    await newestLogged();
    expect(await events(["events:read"])).toContain("audit.checkpoint");
    expect(eventScopes["audit.checkpoint"]).toBe("audit:read");
    expect(mayReadEvents(["transactions:read", "clients:manage"], "audit.checkpoint")).toBe(false);
  });

  it("are published when the service stops", async () => {
    const stopped = await startTestService({ "audit.checkpoint_seconds": "3600" });
    const { tenantId: id } = await stopped.createTenant();
    expect(readCheckpoints(stopped.logLines.join("\n"))).toEqual([]);
    await stopped.stop();
    const published = readCheckpoints(stopped.logLines.join("\n"));
    expect(published.map(({ tenant_id }) => tenant_id)).toContain(id);
  });

  it("are not signed for a log whose head was changed, and other logs still are", async () => {
    const victim = await service.createTenant();
    const victimId = readId("tnt", victim.tenantId) ?? "";
    await service.database.run(
      `UPDATE audit_heads SET number = number + 1, checkpoint_number = 0 WHERE tenant_id = '${victimId}'`,
    );
    await eventually(
      async () => service.logLines.join("\n"),
      (lines) => lines.includes("The head of an audit log was changed"),
    );
    const { number } = await headOf();
    await makeClient();
    expect((await newestLogged()).number).toBeGreaterThan(Number(number));
  });

  it("show a forged signature, and a chain that was written again", async () => {
    const head = await headOf();
    const checkpoint = signCheckpoint(service.keys, head, new Date());
    expect(await verify([checkpoint])).toEqual([]);
    expect(await verify([{ ...checkpoint, number: 1 }])).toEqual([expect.stringContaining("is invalid")]);
    const other = signCheckpoint(service.keys, { ...head, hash: new Uint8Array(32) }, new Date());
    expect(await verify([other])).toEqual([expect.stringContaining("was written again")]);
  });

  it("show that the end was removed, even by somebody who has kept the earlier head", async () => {
    const kept = await headOf();
    await makeClient();
    const checkpoint = await eventually(
      async () => logged().find(({ number }) => number > Number(kept.number)),
      (found) => found !== undefined,
    );
    await service.database.run(`
      ALTER TABLE audit_entries DISABLE TRIGGER ALL;
      DELETE FROM audit_entries WHERE tenant_id = '${tenantId}' AND number > ${kept.number};
      ALTER TABLE audit_entries ENABLE TRIGGER ALL;
      UPDATE audit_heads SET number = ${kept.number}, hash = ${hex(kept.hash)}, mac = ${hex(kept.mac)}, key_id = '${kept.keyId}'
        WHERE tenant_id = '${tenantId}'`);
    // The database alone cannot tell: that is what the copy is for.
    expect(await verify()).toEqual([]);
    expect(await verify(checkpoint === undefined ? [] : [checkpoint])).toEqual([
      expect.stringContaining("its end was removed"),
    ]);
  });
});
