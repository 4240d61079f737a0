import { recordedApprovalsMax } from "@bursar/domain";
import { readId, type Scope, type Transaction } from "@bursar/protocol";
import { describe, expect, it } from "vitest";
import { readStandings, standingOf } from "../../../src/store/access/lineage.js";
import { type Statement, sql } from "../../../src/store/core/sql.js";
import { createGuardedTenant, type GuardedTenant } from "../../harness/access/officers.js";
import { eventually } from "../../harness/eventually.js";
import { inspectSharedService } from "../../harness/service/shared-service.js";

const service = await inspectSharedService();

const managerScopes: readonly Scope[] = ["clients:manage", "transactions:approve", "transactions:read"];

/** Each client is created by the one before it, and the first by the operator; all are older than any payment. */
async function insertChain({ owner }: GuardedTenant, length: number): Promise<string[]> {
  const ids = Array.from({ length }, () => crypto.randomUUID());
  await service.database.query(sql`
    INSERT INTO clients (id, tenant_id, name, scopes, state, require_signature, quotas, created_at, updated_at,
      authority_changed_at, controllers)
    SELECT id, ${readId("tnt", owner.tenantId)}, 'c', '{transactions:approve}', 'active', false, '{}', '2020-01-01',
      '2020-01-01', '2020-01-01', array_remove(ARRAY[lag(id) OVER (ORDER BY n)], NULL)
    FROM unnest(${ids}::uuid[]) WITH ORDINALITY AS made (id, n)
  `);
  return ids;
}

interface PlanNode {
  "Actual Rows": number;
  "Actual Loops": number;
  Plans?: PlanNode[];
}

/** How many rows all steps of a statement have produced. */
async function countRows({ text, values }: Statement): Promise<number> {
  const explained = { text: `EXPLAIN (ANALYZE, FORMAT JSON) ${text}`, values } as Statement;
  const [row] = await service.database.query<{ "QUERY PLAN": [{ Plan: PlanNode }] }>(explained);
  const sum = (node: PlanNode): number =>
    node["Actual Rows"] * node["Actual Loops"] +
    (node.Plans ?? []).reduce((total, part) => total + sum(part), 0);
  return row === undefined ? Number.NaN : sum(row["QUERY PLAN"][0].Plan);
}

describe("the lineages of a chain of clients", () => {
  it("cost a few rows for each client, although everybody is asked for", async () => {
    const tenant = await createGuardedTenant(service);
    const ids = await insertChain(tenant, 300);
    const statements: Statement[] = [];
    const standings = await readStandings(
      {
        ...service.database,
        query: (statement) => {
          statements.push(statement);
          return service.database.query(statement);
        },
      },
      [...ids, tenant.owner.client.id],
    );
    expect(statements).toHaveLength(1);
    expect(standings.size).toBe(301);
    const [first, last, owner] = [ids[0] ?? "", ids.at(-1) ?? "", tenant.owner.client.id].map(
      (id) => standingOf(standings, id).lineage,
    ) as [bigint, bigint, bigint];
    expect([(first & last) === 0n, (last & owner) === 0n]).toEqual([false, true]);
    for (const statement of statements) expect(await countRows(statement)).toBeLessThan(301 * 10);
  });
});

describe("a payment that waits for approval", () => {
  const keyOf = (tenant: GuardedTenant, { id }: Transaction) => sql`
    tenant_id = ${readId("tnt", tenant.owner.tenantId)} AND id = ${readId("tx", id)}`;
  const rowVersion = async (tenant: GuardedTenant, payment: Transaction) =>
    (
      await service.database.query<{ xmin: string }>(
        sql`SELECT xmin::text FROM open_transactions WHERE ${keyOf(tenant, payment)}`,
      )
    )[0]?.xmin;

  it("is not looked at again because an approval is repeated", async () => {
    const tenant = await createGuardedTenant(service, 2);
    const officer = await tenant.hire();
    const payment = await tenant.pay(tenant.admin);
    expect(await tenant.approve(officer, payment)).toMatchObject({ status: 202 });
    await tenant.tallied(payment);
    const before = await rowVersion(tenant, payment);
    expect(await tenant.approve(officer, payment)).toMatchObject({ status: 202 });
    expect(await rowVersion(tenant, payment)).toBe(before);
  });

  it("takes a bounded number of approvals, and a rejection after them", async () => {
    const tenant = await createGuardedTenant(service, 2);
    const officer = await tenant.hire();
    const approvers = await insertChain(tenant, recordedApprovalsMax);
    const payment = await tenant.pay(tenant.admin);
    await service.database.query(sql`
      INSERT INTO approvals (tenant_id, transaction_id, version, client_id, decision, comment, decided_at)
      SELECT ${readId("tnt", tenant.owner.tenantId)}, ${readId("tx", payment.id)}, 100 + n, id, 'approve', NULL, now()
      FROM unnest(${approvers}::uuid[]) WITH ORDINALITY AS made (id, n)
    `);
    expect(await tenant.approve(officer, payment)).toMatchObject({
      status: 409,
      code: "APPROVAL_LIMIT_REACHED",
    });
    const rejection = { decision: "reject", digest: payment.approval?.digest };
    const path = `/v1/transactions/${payment.id}/approvals`;
    expect(await tenant.call(officer, "POST", path, rejection)).toMatchObject({ status: 202 });
    await eventually(
      () => tenant.read(payment.id),
      ({ state }) => state === "rejected",
    );
  });

  it("is approved by two independent officers after one that depends on both has approved", async () => {
    const tenant = await createGuardedTenant(service, 2);
    const [xenia, yan] = [await tenant.hire(managerScopes), await tenant.hire(managerScopes)];
    const bridge = await tenant.create(xenia, ["transactions:read"]);
    const secrets = `/v1/clients/${bridge.clientId}/secrets`;
    expect(await tenant.call(yan, "POST", secrets, {})).toMatchObject({ status: 201 });
    await service.changeAsOperator(bridge, { scopes: ["transactions:approve", "transactions:read"] });
    const [anna, ben] = [await tenant.create(xenia), await tenant.create(yan)];
    const payment = await tenant.pay(tenant.admin);
    expect(await tenant.approve(await tenant.login(bridge), payment)).toMatchObject({ status: 202 });
    expect(await tenant.approve(anna, payment)).toMatchObject({ status: 202 });
    await tenant.tallied(payment);
    expect(await tenant.read(payment.id)).toMatchObject({ state: "awaiting_approval" });
    expect(await tenant.approve(ben, payment)).toMatchObject({ status: 202 });
    await tenant.completes(payment);
  });
});
