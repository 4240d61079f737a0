import { readId, type Transaction } from "@bursar/protocol";
import { beforeAll, describe, expect, it } from "vitest";
import { sql } from "../../../src/store/core/sql.js";
import { inspectSharedService } from "../../harness/service/shared-service.js";
import { createPolicyTenant, type PolicyTenant } from "../../harness/transactions/policy-client.js";

const service = await inspectSharedService();

interface Page {
  data: Transaction[];
  next_cursor: string | null;
}

describe("what waits for approval, by its deadline", () => {
  let tenant: PolicyTenant;
  const byMinutes = new Map<number, string>();
  beforeAll(async () => {
    tenant = await createPolicyTenant(service);
    const rule = { name: "all", when: {}, action: "require_approval", approvals: 1 } as const;
    await tenant.usePolicy({ rules: [rule], default: { action: "allow" } });
    for (const minutes of [30, 10, 50, 20, 40]) {
      const expires_at = new Date(Date.now() + minutes * 60_000).toISOString();
      const answer = await tenant.create("5", undefined, { reference: `in-${minutes}`, expires_at });
      const { id } = (await answer.json()) as Transaction;
      byMinutes.set(minutes, (await tenant.settled(id, "awaiting_approval")).id);
    }
  });

  const read = async (query: string) => {
    const answer = await service.call("GET", `/v1/transactions?order=deadline${query}`, tenant.token);
    return { status: answer.status, ...((await answer.json()) as Page) };
  };
  const readAll = async (query: string) => {
    const references: string[] = [];
    let cursor: string | null = "";
    while (cursor !== null) {
      const page: Page = await read(`${query}${cursor === "" ? "" : `&cursor=${cursor}`}`);
      references.push(...page.data.map(({ reference }) => reference));
      cursor = page.next_cursor;
    }
    return references;
  };
  const setDue = (minutes: number, due: string | null) =>
    service.database.query(sql`
      UPDATE open_transactions SET due_at = ${due}::timestamptz, retry_at = 'infinity'
      WHERE tenant_id = ${tenant.tenantId} AND id = ${readId("tx", byMinutes.get(minutes) ?? "")}`);

  it("is listed with what expires next first, on pages of any size", async () => {
    const wanted = ["in-10", "in-20", "in-30", "in-40", "in-50"];
    for (const limit of [1, 2, 5, 200]) expect(await readAll(`&limit=${limit}`)).toEqual(wanted);
    expect(await readAll("&state=awaiting_approval&limit=2")).toEqual(wanted);
  });

  it("is filtered as in other orders", async () => {
    expect(await readAll("&reference=in-40&limit=1")).toEqual(["in-40"]);
    expect(await readAll("&asset=ETH")).toEqual([]);
    expect(await readAll("&idempotency_key=key-1")).toEqual(["in-10"]);
    expect(await readAll(`&created_after=${new Date(Date.now() + 60_000).toISOString()}`)).toEqual([]);
  });

  it("lists no other state, and takes no cursor of another list", async () => {
    expect(await read("&state=completed")).toMatchObject({ status: 400 });
    expect(await read("&state=awaiting_approval&state=failed")).toMatchObject({ status: 400 });
    const { next_cursor } = await read("&limit=1");
    const other = await service.call("GET", `/v1/transactions?cursor=${next_cursor}`, tenant.token);
    expect(other.status).toBe(400);
    const forged = Buffer.from(`deadlines:1.${"x".repeat(36)}`).toString("base64url");
    expect(await read(`&cursor=${forged}`)).toMatchObject({ status: 400 });
  });

  it("includes what is being counted, first, and what was set aside, last", async () => {
    await setDue(40, "-infinity");
    await setDue(20, null);
    await setDue(10, null);
    const wanted = ["in-40", "in-30", "in-50", "in-10", "in-20"];
    for (const limit of [1, 2, 200]) expect(await readAll(`&limit=${limit}`)).toEqual(wanted);
  });
});
