import { everyone } from "@bursar/domain";
import type { Scope } from "@bursar/protocol";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readStandings, standingOf } from "../../../../src/store/access/lineage/lineage.js";
import type { Statement } from "../../../../src/store/core/sql.js";
import { sql } from "../../../../src/store/core/sql.js";
import {
  countVerifications,
  inChain,
  insertClients,
  setControllers,
} from "../../../harness/access/insert-clients.js";
import { createGuardedTenant, type GuardedTenant, type Person } from "../../../harness/access/officers.js";
import { startTestService, type TestService } from "../../../harness/service/test-service.js";

let service: TestService;
beforeAll(async () => {
  const seldom = { create_per_second: "1", manage_per_second: "1" };
  const burst = { create_burst: "100", manage_burst: "100" };
  const quotas = Object.entries({ ...seldom, ...burst }).map(([name, value]) => [`quotas.${name}`, value]);
  service = await startTestService(Object.fromEntries(quotas));
});
afterAll(() => service.stop());

/** A request that is the first one of its client and class, and what it has taken of the burst. */
async function costOf(who: Person, method: string, path: string, body: unknown) {
  const answer = await service.call(method, path, who.token, body);
  const left = Number(/r=(\d+)/.exec(answer.headers.get("ratelimit") ?? "")?.[1]);
  return { status: answer.status, cost: 100 - left };
}

/** Gives a client a lineage of 98 clients. */
async function lengthen(tenant: GuardedTenant, { clientId }: Person, scopes?: readonly Scope[]) {
  const chain = await insertClients(service, tenant.owner, 97, inChain, scopes);
  await setControllers(service, clientId, chain.slice(-1));
  return chain;
}

/** Each client is controlled by twenty others, so that the lineage of each is nearly all of them. */
const inCrowd = (index: number, ids: readonly string[]) =>
  Array.from({ length: 20 }, (_, nth) => ids[(index * 37 + nth * 53 + 11) % ids.length] ?? "");

describe("long lineages", () => {
  it("are charged to the approver who has them read, also if the approval is refused", async () => {
    const tenant = await createGuardedTenant(service);
    const officer = await tenant.hire();
    const payment = await tenant.pay(tenant.admin);
    const chain = await lengthen(tenant, officer);
    await setControllers(service, tenant.admin.clientId, chain.slice(-1));
    const decision = { decision: "approve", digest: payment.approval?.digest };
    const path = `/v1/transactions/${payment.id}/approvals`;
    const { status, cost } = await costOf(officer, "POST", path, decision);
    expect(status).toBe(403);
    expect(cost).toBeGreaterThan(5);
    expect(cost).toBeLessThan(15);
  });

  it("are charged to the client who has the approvals counted", async () => {
    const tenant = await createGuardedTenant(service, 2);
    const officer = await tenant.hire();
    const reader = await tenant.hire(["transactions:read"]);
    await service.changeAsOperator(reader, { quotas: { read: { per_second: 1, burst: 100 } } });
    const payment = await tenant.pay(tenant.admin);
    expect(await tenant.approve(officer, payment)).toMatchObject({ status: 202 });
    await lengthen(tenant, officer);
    const path = `/v1/transactions/${payment.id}/approvals/tally`;
    const { status, cost } = await costOf(await tenant.login(reader), "GET", path, undefined);
    expect(status).toBe(200);
    expect(cost).toBeGreaterThan(5);
    expect(cost).toBeLessThan(15);
  });

  it("are charged also if they are too long to count, and read no further than tells that", async () => {
    const tenant = await createGuardedTenant(service);
    const officer = await tenant.hire();
    const payment = await tenant.pay(tenant.admin);
    const crowd = await insertClients(service, tenant.owner, 600, inCrowd);
    await setControllers(service, officer.clientId, crowd.slice(0, 1));
    await setControllers(service, tenant.admin.clientId, crowd.slice(300, 301));
    const decision = { decision: "approve", digest: payment.approval?.digest };
    const path = `/v1/transactions/${payment.id}/approvals`;
    const { status, cost } = await costOf(officer, "POST", path, decision);
    expect(status).toBe(403);
    expect(cost).toBeGreaterThan(15);
    expect(cost).toBeLessThan(40);
    const [short = ""] = await insertClients(service, tenant.owner, 1, () => []);
    const chain = await insertClients(service, tenant.owner, 97, inChain);
    const wanted = [crowd[0] ?? "", crowd[300] ?? "", short, chain.at(-1) ?? ""];
    let count = 0;
    const query: typeof service.database.query = async (statement) => {
      const rows = await service.database.query(statement);
      count += rows.length;
      return rows as never;
    };
    const standings = await readStandings({ query, keys: service.keys }, wanted);
    expect(wanted.map((id) => standingOf(standings, id).lineage === everyone)).toEqual([
      true,
      true,
      false,
      false,
    ]);
    expect(count).toBeLessThan(4 * 101 + 2 * 101 + 120);
  });

  it("are charged to the client that requests or decides a change", async () => {
    const tenant = await createGuardedTenant(service);
    const scopes: Scope[] = ["clients:manage", "transactions:approve", "transactions:read"];
    const [one, other] = [await tenant.hire(scopes), await tenant.hire(scopes)];
    const target = await tenant.hire();
    await lengthen(tenant, one);
    await lengthen(tenant, other);
    const change = { client_id: target.clientId, state: "disabled" };
    const requested = await costOf(one, "POST", "/v1/change-requests", { kind: "client.change", change });
    expect(requested.status).toBe(201);
    expect(requested.cost).toBeGreaterThan(5);
    const listed = await tenant.call(tenant.admin, "GET", "/v1/change-requests?limit=1");
    const [request] = (listed.body as unknown as { data: { id: string; digest: string }[] }).data;
    const path = `/v1/change-requests/${request?.id}/reject`;
    const rejected = await costOf(other, "POST", path, { digest: request?.digest });
    expect(rejected.status).toBe(200);
    expect(rejected.cost).toBeGreaterThan(12);
  });

  it("are charged to the client that gives another one a scope", async () => {
    const tenant = await createGuardedTenant(service);
    const target = await tenant.create(tenant.admin, ["transactions:read"]);
    await lengthen(tenant, target, ["transactions:read", "wallets:read"]);
    const scopes = ["transactions:read", "wallets:read"];
    const { status, cost } = await costOf(tenant.admin, "PATCH", `/v1/clients/${target.clientId}`, {
      scopes,
    });
    expect(status).toBe(200);
    expect(cost).toBeGreaterThan(5);
  });
});

describe("a lineage that was verified", () => {
  const observe = () => {
    const { counted, keys } = countVerifications(service);
    const statements: Statement[] = [];
    const query: typeof service.database.query = (statement) => {
      statements.push(statement);
      return service.database.query(statement);
    };
    return { counted, statements, source: { query, keys } };
  };

  it("is not verified again, while none of its rows is changed", async () => {
    const { owner } = await createGuardedTenant(service);
    const [one, other] = [
      await insertClients(service, owner, 97, inChain),
      await insertClients(service, owner, 97, inChain),
    ];
    const ends = [one.at(-1) ?? "", other.at(-1) ?? ""];
    const cold = observe();
    await readStandings(cold.source, ends);
    expect(cold.counted.count).toBe(2 * 97);
    const warm = observe();
    const standings = await readStandings(warm.source, ends);
    expect(warm.counted.count).toBe(2);
    expect(warm.statements.length).toBe(3);
    expect(ends.map((id) => standingOf(standings, id).lineage === everyone)).toEqual([false, false]);
    expect(
      (standingOf(standings, ends[0] ?? "").lineage & standingOf(standings, ends[1] ?? "").lineage) === 0n,
    ).toBe(true);
  });

  it("counts as it is since one of its rows was changed, and as everybody's if something else has changed one", async () => {
    const { owner } = await createGuardedTenant(service);
    const chain = await insertClients(service, owner, 20, inChain);
    const [other = ""] = await insertClients(service, owner, 1, () => []);
    const wanted = [chain.at(-1) ?? "", other];
    const areShared = async () => {
      const standings = await readStandings(observe().source, wanted);
      const [one, two] = wanted.map((id) => standingOf(standings, id).lineage) as [bigint, bigint];
      return [(one & two) !== 0n, one === everyone];
    };
    expect(await areShared()).toEqual([false, false]);
    await setControllers(service, chain[0] ?? "", [other]);
    expect(await areShared()).toEqual([true, false]);
    // The row as it was, which is authentic; then one without the controller, which is not.
    await setControllers(service, chain[0] ?? "", []);
    expect(await areShared()).toEqual([false, false]);
    await service.database.query(sql`UPDATE clients SET controllers = '{}' WHERE id = ${chain[5] ?? ""}`);
    expect(await areShared()).toEqual([true, true]);
  });
});
