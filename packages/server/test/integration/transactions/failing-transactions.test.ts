import { readId, type Transaction } from "@bursar/protocol";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { listFailures, retryFailures } from "../../../src/store/core/rows/failures.js";
import { sql } from "../../../src/store/core/sql.js";
import { auditLedger } from "../../../src/store/ledger/audit-ledger.js";
import { macOfApproval, type SealedApproval } from "../../../src/store/transactions/approval-integrity.js";
import { transactionFailures } from "../../../src/store/transactions/settlement.js";
import { sealOpenTransactions } from "../../harness/database/seal-rows.js";
import { eventually } from "../../harness/eventually.js";
import { startTestService, type TestService } from "../../harness/service/test-service.js";
import { createPolicyTenant } from "../../harness/transactions/policy-client.js";
import { transactionsOf } from "../../harness/transactions/transactions-client.js";

describe("a transaction that cannot be settled", () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService();
  });
  afterAll(async () => {
    for (const { what, violations } of await auditLedger(service.database))
      expect(violations, what).toEqual([]);
    await service.stop();
  });

  const failing = async (id: string) =>
    (await listFailures(service.database, transactionFailures, 100)).find(
      (row) => row.id === readId("tx", id),
    );
  const logged = (id: string) =>
    service.logLines.filter((line) => line.includes(id) && line.includes("could not be settled"));

  it("lets the others of its batch settle, records its error, and is settled once the cause is gone", async () => {
    const api = transactionsOf(service, await service.token(await service.createTenant("1000")));
    await service.database.run(`
      CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''the row is unlucky''; END';
      CREATE TRIGGER refuse BEFORE INSERT ON ledger_entries FOR EACH ROW WHEN (NEW.amount = 1313) EXECUTE FUNCTION refuse();
    `);
    const items = Array.from({ length: 40 }, (_, index) => ({
      ...{ idempotency_key: `key-${index}`, reference: `r${index}`, asset: "USD" },
      amount: index === 17 ? "13.13" : "1",
    }));
    const { body } = await api.send("POST", "/v1/transactions/batch", { transactions: items });
    const { data } = body as unknown as { data: { transaction: Transaction }[] };
    const ids = data.map(({ transaction }) => transaction.id);
    const unlucky = ids[17] ?? "";
    for (const id of ids.filter((one) => one !== unlucky))
      expect((await api.settled(id)).state).toBe("completed");

    const row = await eventually(
      () => failing(unlucky),
      (found) => found !== undefined,
    );
    expect(row).toMatchObject({ lastError: "the row is unlucky" });
    expect((await api.read(unlucky)).body).toMatchObject({ state: "accepted", version: 1 });
    expect(logged(unlucky).length).toBeGreaterThan(0);
    // It is tried again by itself.
    await retryFailures(service.database, transactionFailures, readId("tx", unlucky) ?? "", new Date());
    const again = await eventually(
      () => failing(unlucky),
      (found) => (found?.attempts ?? 0) > (row?.attempts ?? 0),
    );
    expect(again?.retryAt?.getTime()).toBeGreaterThan(Date.now());

    await service.database.run("DROP TRIGGER refuse ON ledger_entries");
    expect(
      await retryFailures(service.database, transactionFailures, readId("tx", unlucky) ?? "", new Date()),
    ).toBe(1);
    expect((await api.settled(unlucky)).state).toBe("completed");
    expect(await failing(unlucky)).toBeUndefined();
  });

  it("does not hold up the approvals of others when its judgement cannot be read", async () => {
    const tenant = await createPolicyTenant(service);
    await tenant.usePolicy({
      rules: [
        {
          name: "all",
          when: { amount: { asset: "USD", min: "1" } },
          action: "require_approval",
          approvals: 1,
        },
      ],
      default: { action: "allow" },
    });
    const anna = await tenant.addClient("anna");
    const waiting: Transaction[] = [];
    for (let index = 0; index < 5; index++) {
      const { id } = (await (await tenant.create("10")).json()) as Transaction;
      waiting.push(await tenant.settled(id, "awaiting_approval"));
    }
    const [broken, ...others] = waiting as [Transaction, ...Transaction[]];
    const brokenId = readId("tx", broken.id) ?? "";
    const { database } = service;
    const [sound] = await database.query<{ requirement: object }>(
      sql`SELECT requirement FROM judgements WHERE transaction_id = ${brokenId}`,
    );
    const judge = async (requirement: object) => {
      await database.query(sql`
        UPDATE judgements SET requirement = ${JSON.stringify(requirement)}::jsonb WHERE transaction_id = ${brokenId}
      `);
      await sealOpenTransactions(database, service.keys, sql`o.id = ${brokenId}`);
    };
    await judge({ ...sound?.requirement, clientIds: "nobody can read this".length });
    const approval: SealedApproval = {
      tenantId: readId("tnt", tenant.owner.tenantId) ?? "",
      transactionId: brokenId,
      version: 99,
      clientId: readId("cli", anna.id) ?? "",
      decision: "approve",
      digest: broken.approval?.digest ?? null,
      comment: null,
      decidedAt: new Date(),
      isSigned: false,
      publicKey: null,
    };
    const { keyId, mac } = macOfApproval(service.keys, approval);
    await database.query(sql`
      INSERT INTO approvals (tenant_id, transaction_id, version, client_id, decision, digest, decided_at, key_id, mac)
      VALUES (${approval.tenantId}, ${brokenId}, 99, ${approval.clientId}, 'approve', decode(${approval.digest}, 'hex'),
        ${approval.decidedAt}, ${keyId}, ${mac})
    `);
    await database.query(sql`UPDATE open_transactions SET due_at = '-infinity' WHERE id = ${brokenId}`);
    for (const { id, approval } of others) await tenant.say(anna, id, approval?.digest ?? "");
    for (const { id } of others) await tenant.settled(id, "completed");
    const row = await eventually(
      () => failing(broken.id),
      (found) => found !== undefined,
    );
    expect(row?.lastError).toContain("includes is not a function");
    expect(logged(broken.id).length).toBeGreaterThan(0);

    await judge(sound?.requirement ?? {});
    await retryFailures(database, transactionFailures, brokenId, new Date());
    await tenant.settled(broken.id, "completed");
  });
});
