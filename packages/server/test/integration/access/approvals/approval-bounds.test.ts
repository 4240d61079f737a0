import { type ApprovalRequirement, everyone, lineageMax, recordedApprovalsMax } from "@bursar/domain";
import { readId, type Scope, type Transaction } from "@bursar/protocol";
import { describe, expect, it } from "vitest";
import { createChangeRequestStore } from "../../../../src/store/access/change-requests/change-requests.js";
import { countChangeApprovers } from "../../../../src/store/access/change-requests/count-change-approvers.js";
import {
  createStandingReader,
  readStandings,
  standingOf,
} from "../../../../src/store/access/lineage/lineage.js";
import { type Database, withKeys } from "../../../../src/store/core/database.js";
import { type Statement, sql } from "../../../../src/store/core/sql.js";
import { readPendingApprovals } from "../../../../src/store/transactions/pending-approvals.js";
import { macOfRequirement } from "../../../../src/store/transactions/transaction-integrity.js";
import { countVerifications, inChain, insertClients } from "../../../harness/access/insert-clients.js";
import { createGuardedTenant, type GuardedTenant } from "../../../harness/access/officers.js";
import { eventually } from "../../../harness/eventually.js";
import { inspectSharedService } from "../../../harness/service/shared-service.js";
import { testAssets } from "../../../harness/service/test-assets.js";

const service = await inspectSharedService();

const managerScopes: readonly Scope[] = ["clients:manage", "transactions:approve", "transactions:read"];

/** The shared database with the keys of the service, and what was read and verified with it. */
function observe() {
  const { counted, keys } = countVerifications(service);
  const statements: Statement[] = [];
  const query: typeof service.database.query = (statement) => {
    statements.push(statement);
    return service.database.query(statement);
  };
  return { counted, statements, source: { query, keys } };
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

describe("the lineages of clients", () => {
  it("cost a few rows for each client of a chain, although everybody is asked for", async () => {
    const { owner } = await createGuardedTenant(service);
    const ids = await insertClients(service, owner, lineageMax, inChain);
    const { counted, statements, source } = observe();
    const standings = await readStandings(source, [...ids, owner.client.id]);
    expect(standings.size).toBe(lineageMax + 1);
    expect(counted.count).toBe(lineageMax + 1);
    const [first, last, own] = [ids[0] ?? "", ids.at(-1) ?? "", owner.client.id].map(
      (id) => standingOf(standings, id).lineage,
    ) as [bigint, bigint, bigint];
    expect([(first & last) === 0n, (last & own) === 0n]).toEqual([false, true]);
    let rows = 0;
    for (const statement of statements) rows += await countRows(statement);
    expect(rows).toBeLessThan((lineageMax + 1) * 24);
  });

  it("are followed to the end of a chain of which one is asked for, in a few statements", async () => {
    const { owner } = await createGuardedTenant(service);
    const ids = await insertClients(service, owner, 60, inChain);
    const { counted, statements, source } = observe();
    const standings = await readStandings(source, [ids[0] ?? "", ids.at(-1) ?? ""]);
    const [first, last] = [...standings.values()].map(({ lineage }) => lineage) as [bigint, bigint];
    expect((first & last) === 0n).toBe(false);
    expect(counted.count).toBe(60);
    expect(statements.length).toBeLessThan(15);
  });

  it("count as shared with everybody if they are too long, and are not read then", async () => {
    const { owner } = await createGuardedTenant(service);
    const ids = await insertClients(service, owner, 300, inChain);
    const [, other = ""] = await insertClients(service, owner, 2, () => []);
    const { counted, statements, source } = observe();
    const standings = await readStandings(source, [ids.at(-1) ?? "", ids[lineageMax] ?? "", other]);
    const lineageOf = (id = "") => standingOf(standings, id).lineage;
    expect([lineageOf(ids.at(-1)), lineageOf(ids[lineageMax])]).toEqual([everyone, everyone]);
    expect(lineageOf(other)).toBeGreaterThan(0n);
    expect(counted.count).toBe(3);
    expect(statements.length).toBeLessThan(5);
  });

  it("are the same for a tally whether other tallies are read with it or not", async () => {
    const { owner } = await createGuardedTenant(service);
    const chains: string[][] = [];
    for (let index = 0; index < 6; index += 1) chains.push(await insertClients(service, owner, 90, inChain));
    const ends = chains.map((ids) => ids.at(-1) ?? "");
    const { counted, source } = observe();
    const reader = createStandingReader(source);
    const groups = ends.map((_, index) => [...ends.slice(index), ...ends.slice(0, index)]);
    const readCount = await reader.readAhead(groups);
    expect(readCount).toBeGreaterThanOrEqual(1);
    expect(readCount).toBeLessThan(groups.length);
    expect(counted.count).toBeLessThanOrEqual(400);
    for (const group of groups.slice(0, readCount)) {
      const known = [...(await reader.read(group)).values()].map(({ lineage }) => lineage !== everyone);
      // Those that come first have room for their lineages.
      expect(known).toEqual([true, true, false, false, false, false]);
    }
  });

  it("are read for those who are asked for, however many other clients the tenant has", async () => {
    const { owner } = await createGuardedTenant(service);
    const ids = await insertClients(service, owner, 300, () => [owner.client.id]);
    const { counted, statements, source } = observe();
    const standings = await readStandings(source, ids.slice(0, 2));
    expect(standings.size).toBe(2);
    expect(counted.count).toBe(3);
    let rows = 0;
    for (const statement of statements) rows += await countRows(statement);
    expect(rows).toBeLessThan(60);
  });
});

describe("a batch of payments that wait for approval", () => {
  it("reads a bounded number of clients, and leaves the rest for the next batch, tenant by tenant", async () => {
    const tenants = [await createGuardedTenant(service), await createGuardedTenant(service)];
    const claimed: Parameters<typeof readPendingApprovals>[2][number][] = [];
    for (const { owner } of tenants)
      for (let payment = 0; payment < 3; payment += 1) {
        const chain = await insertClients(service, owner, 95, inChain);
        const key = { tenantId: readId("tnt", owner.tenantId) ?? "", id: crypto.randomUUID() };
        const payment = { state: "awaiting_approval", network: "book", destination: "own_wallet" } as const;
        const [sourceAccountId, destinationAccountId] = [crypto.randomUUID(), crypto.randomUUID()];
        const parties = { sourceAccountId, destinationAccountId, destinationAddress: null } as const;
        const paid = { kind: "transfer", asset: "USD", amount: "1", expiresAt: null, ...parties } as const;
        claimed.push({ ...key, clientId: chain.at(-1) ?? "", ...payment, ...paid });
        const requirement = { approvals: 1, clientIds: null, expiresAfterSeconds: 60 } as ApprovalRequirement;
        const judgedAt = new Date();
        const { keyId, mac } = macOfRequirement(service.keys, { ...key, requirement, judgedAt });
        await service.database.query(sql`
          INSERT INTO judgements (tenant_id, transaction_id, policy_version, rule, requirement, judged_at, key_id, mac)
          VALUES (${key.tenantId}, ${key.id}, 1, 'r', ${JSON.stringify(requirement)}, ${judgedAt}, ${keyId}, ${mac})
        `);
      }
    const { counted, source } = observe();
    const pending = await readPendingApprovals(source, testAssets, claimed);
    const isLater = claimed.map(({ id }) => pending.get(id) === "later");
    expect(isLater).toEqual([false, false, true, false, false, true]);
    expect(counted.count).toBeLessThanOrEqual(400);
  });
});

describe("the open change requests of a client", () => {
  it("are counted with standings that were read before the tenant is locked", async () => {
    const { owner } = await createGuardedTenant(service);
    const chain = await insertClients(service, owner, 60, inChain);
    const texts: string[] = [];
    const seen = (text: string) => void texts.push(text.replaceAll(/\s+/g, " "));
    const { transaction, ...rest } = withKeys(service.database, service.keys);
    const database: Database = {
      ...rest,
      transaction: (work) =>
        transaction((tx) =>
          work({
            ...tx,
            query: (statement) => {
              seen(statement.text);
              return tx.query(statement);
            },
            send: (statement) => {
              seen(statement.text);
              tx.send(statement);
            },
          }),
        ),
    };
    const { unitOfWork } = createChangeRequestStore(database, { append: () => Promise.resolve() } as never);
    await unitOfWork((unit) => unit.countOpen(readId("tnt", owner.tenantId) ?? "", chain.at(-1) ?? ""));
    const lockedAt = texts.findIndex((text) => text.includes("FROM tenants WHERE id = $1 FOR NO KEY UPDATE"));
    const lastRead = texts.findLastIndex((text) => text.includes("FROM clients"));
    expect(lastRead).toBeGreaterThan(0);
    expect(lockedAt).toBeGreaterThan(lastRead);
  });
});

describe("the count of those who could approve a change", () => {
  it("considers a bounded number of clients, although none of a thousand is independent", async () => {
    const { owner } = await createGuardedTenant(service);
    await insertClients(service, owner, 990, () => [owner.client.id], ["clients:manage"]);
    const { counted, source } = observe();
    const { tenantId, id } = owner.client;
    expect(await countChangeApprovers(source, tenantId, id, null, 5)).toBe(0);
    expect(counted.count).toBeLessThanOrEqual(101);
  });

  it("reads a bounded number of clients, however long the lineages of the candidates are", async () => {
    const { owner } = await createGuardedTenant(service);
    const inLongChain = (index: number, ids: readonly string[]) =>
      index === 0 ? [owner.client.id] : inChain(index, ids);
    await insertClients(service, owner, 400, inLongChain, ["clients:manage"]);
    const { counted, source } = observe();
    const { tenantId, id } = owner.client;
    expect(await countChangeApprovers(source, tenantId, id, null, 5)).toBe(0);
    expect(counted.count).toBeLessThanOrEqual(200);
  });

  it("ends as soon as there are enough", async () => {
    const { owner } = await createGuardedTenant(service);
    const ids = await insertClients(service, owner, 50, () => [], ["clients:manage"]);
    const { tenantId, id } = owner.client;
    const any = observe();
    expect(await countChangeApprovers(any.source, tenantId, id, null, 3)).toBe(3);
    expect(any.counted.count).toBeLessThanOrEqual(11);
    const named = observe();
    expect(await countChangeApprovers(named.source, tenantId, id, ids.slice(-2), 3)).toBe(2);
    expect(named.counted.count).toBe(3);
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
    const approvers = await insertClients(service, tenant.owner, recordedApprovalsMax, inChain);
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
