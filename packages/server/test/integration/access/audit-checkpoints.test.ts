import { readId } from "@bursar/protocol";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { verifyAudit } from "../../../src/app/audit/audit-chain.js";
import { type Checkpoint, signCheckpoint } from "../../../src/app/audit/checkpoint.js";
import { readCheckpoints } from "../../../src/app/audit/read-checkpoints.js";
import { createAuditStore } from "../../../src/store/access/audit.js";
import { startTestService, type TestClient, type TestService } from "../../harness/service/test-service.js";

describe("checkpoints of the audit log", () => {
  let service: TestService;
  let owner: TestClient;
  let token: string;
  let tenantId: string;
  beforeAll(async () => {
    service = await startTestService();
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
  const headOf = async () => {
    const head = (await createAuditStore(service.database).listHeads()).find(
      (one) => one.tenantId === tenantId,
    );
    if (head === undefined) throw new Error("the tenant has no audit log");
    return head;
  };
  const hex = (bytes: Uint8Array | null) => `'\\x${Buffer.from(bytes ?? []).toString("hex")}'`;

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
    const printed = JSON.stringify(signCheckpoint(service.keys, await headOf(), new Date()));
    await service.database.run(`
      ALTER TABLE audit_entries DISABLE TRIGGER ALL;
      DELETE FROM audit_entries WHERE tenant_id = '${tenantId}' AND number > ${kept.number};
      ALTER TABLE audit_entries ENABLE TRIGGER ALL;
      UPDATE audit_heads SET number = ${kept.number}, hash = ${hex(kept.hash)}, mac = ${hex(kept.mac)}, key_id = '${kept.keyId}'
        WHERE tenant_id = '${tenantId}'`);
    // The database alone cannot tell: that is what the copy is for.
    expect(await verify()).toEqual([]);
    expect(await verify(readCheckpoints(`not a checkpoint\n${printed}\n`))).toEqual([
      expect.stringContaining("its end was removed"),
    ]);
  });
});
