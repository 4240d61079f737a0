import type { PolicyDocument } from "@bursar/domain";
import { readId, type Transaction } from "@bursar/protocol";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { sql } from "../../../src/store/core/sql.js";
import { auditLedger } from "../../../src/store/ledger/audit-ledger.js";
import { eventually } from "../../harness/eventually.js";
import { inspectSharedService } from "../../harness/service/shared-service.js";
import { createPolicyTenant, type PolicyTenant, policyOf } from "../../harness/transactions/policy-client.js";

const service = await inspectSharedService();

type Rule = PolicyDocument["rules"][number];
type Officer = Awaited<ReturnType<PolicyTenant["addClient"]>>;

describe("a policy that is tightened while a payment waits for approval", () => {
  let tenant: PolicyTenant;
  let anna: Officer;
  let ben: Officer;
  let cora: Officer;

  beforeEach(async () => {
    tenant = await createPolicyTenant(service);
    [anna, ben, cora] = [
      await tenant.addClient("anna"),
      await tenant.addClient("ben"),
      await tenant.addClient("cora"),
    ];
  });
  afterAll(async () => {
    for (const { what, violations } of await auditLedger(service.database))
      expect(violations, what).toEqual([]);
  });

  const large = { amount: { asset: "USD", min: "100" } } as const;
  const need = (approvals: number, officers: Officer[], when: Rule["when"] = large): PolicyDocument => ({
    groups: { officers: officers.map(({ id }) => id) },
    rules: [
      { name: "officers", when, action: "require_approval", approvals, from: { groups: ["officers"] } },
    ],
    default: { action: "allow" },
  });
  const stop: PolicyDocument = {
    rules: [{ name: "stop", when: large, action: "reject", reason: "Nothing above 100 today." }],
    default: { action: "allow" },
  };
  const ask = async (amount = "150") => {
    const { id } = (await (await tenant.create(amount)).json()) as Transaction;
    const { approval } = await tenant.settled(id, "awaiting_approval");
    return { id, digest: approval?.digest ?? "" };
  };
  /** In force at once in the process that answers. */
  const replace = async (document: PolicyDocument) =>
    expect((await policyOf(service, tenant.token).replace(document)).status).toBe(200);
  const say = async (who: Officer, { id, digest }: { id: string; digest: string }, decision = "approve") => {
    const response = await tenant.say(who, id, digest, decision);
    const { error } = (await response.json()) as { error?: { code: string; message: string } };
    return error === undefined ? response.status : `${response.status} ${error.code}: ${error.message}`;
  };
  const notListed = "403 POLICY_REJECTED: The policy does not list this client as an approver.";

  it("takes the approval from an officer that it no longer names", async () => {
    await tenant.usePolicy(need(1, [anna, ben]));
    const waiting = await ask();
    await replace(need(1, [ben]));
    expect(await say(anna, waiting)).toBe(notListed);
    expect(await tenant.read(waiting.id)).toMatchObject({ state: "awaiting_approval", version: 2 });
    expect(await say(ben, waiting)).toBe(202);
    await tenant.settled(waiting.id, "completed");
  });

  it("does not count what an officer approved before it was removed", async () => {
    await tenant.usePolicy(need(2, [anna, ben, cora]));
    const waiting = await ask();
    expect(await say(anna, waiting)).toBe(202);
    await replace(need(2, [ben, cora]));
    expect(await say(ben, waiting)).toBe(202);
    // The engine settles in order: what was approved after it is completed, and this one is not.
    const other = await ask("160");
    for (const officer of [ben, cora]) expect(await say(officer, other)).toBe(202);
    await tenant.settled(other.id, "completed");
    expect(await tenant.read(waiting.id)).toMatchObject({ state: "awaiting_approval", version: 4 });
    expect(await say(cora, waiting)).toBe(202);
    await tenant.settled(waiting.id, "completed");
  });

  it("lets a removed officer reject, which is always safe", async () => {
    await tenant.usePolicy(need(1, [anna, ben]));
    const waiting = await ask();
    await replace(need(1, [ben]));
    expect(await say(anna, waiting, "reject")).toBe(202);
    const done = await tenant.settled(waiting.id, "rejected");
    expect(done.failure).toMatchObject({ code: "APPROVAL_REJECTED" });
  });

  it("rejects the payment that it no longer allows, with its rule, when somebody approves it", async () => {
    await tenant.usePolicy(need(1, [anna, ben]));
    const waiting = await ask();
    await replace(stop);
    expect(await say(anna, waiting)).toBe(202);
    const done = await tenant.settled(waiting.id, "rejected");
    expect(done).toMatchObject({
      failure: { code: "POLICY_REJECTED", rule: "stop", message: "Nothing above 100 today." },
      policy_version: 2,
      approval: { state: "closed", rule: "officers", approved: 1 },
    });
    expect(await tenant.balances()).toMatchObject({ available: "100000", held: "0" });
    const events = (await (await service.call("GET", "/v1/events", tenant.token)).json()) as {
      data: { data: { transaction: Transaction } }[];
    };
    const shown = events.data.map(({ data: { transaction } }) => transaction);
    expect(shown.map((one) => [one.version, one.policy_version, one.failure?.rule])).toEqual([
      [2, 1, undefined],
      [3, 1, undefined],
      [4, 2, "stop"],
    ]);
  });

  it("goes on without anybody when the policy that added approvals is replaced", async () => {
    await tenant.usePolicy(need(2, [anna, ben, cora]));
    const waiting = await ask();
    await replace(need(3, [anna, ben, cora]));
    for (const officer of [anna, ben]) expect(await say(officer, waiting)).toBe(202);
    const readRest = async () => {
      const [row] = await service.database.query<{ seconds: number }>(sql`
        SELECT extract(epoch FROM o.due_at - now())::float8 AS seconds FROM open_transactions o WHERE o.id = ${readId("tx", waiting.id)}`);
      return row?.seconds ?? 0;
    };
    // Once both are counted.
    await eventually(readRest, (seconds) => seconds > 0 && seconds <= 60);
    expect(await tenant.read(waiting.id)).toMatchObject({ state: "awaiting_approval", version: 4 });
    await replace(need(2, [anna, ben, cora]));
    // Instead of waiting for that long.
    await service.database.query(
      sql`UPDATE open_transactions SET due_at = now() WHERE id = ${readId("tx", waiting.id)}`,
    );
    await tenant.settled(waiting.id, "completed");
  });

  it("raises the number of approvals, and a loosened one does not lower it", async () => {
    await tenant.usePolicy(need(1, [anna, ben, cora]));
    const [one, other] = [await ask(), await ask("151")];
    await replace(need(2, [anna, ben, cora]));
    expect(await say(anna, one)).toBe(202);
    const later = await ask("152");
    await replace({ rules: [], default: { action: "allow" } });
    expect(await say(ben, later)).toBe(202);
    expect(await say(ben, other)).toBe(202);
    // It needed one approval when it was judged, and the policy in force asks for none.
    await tenant.settled(other.id, "completed");
    for (const { id } of [one, later])
      expect(await tenant.read(id)).toMatchObject({ state: "awaiting_approval", version: 3 });
    expect(await say(cora, later)).toBe(202);
    await tenant.settled(later.id, "completed");
  });

  it("reaches the approvers of a rule with a sum, and not its sum", async () => {
    const sum = { asset: "USD", per: "tenant", period_seconds: 86_400 } as const;
    await tenant.usePolicy(need(1, [anna, ben], { sum: { ...sum, above: "100" } }));
    const waiting = await ask();
    const limit: Rule = {
      name: "limit",
      when: { sum: { ...sum, above: "120" } },
      action: "reject",
      reason: "The limit of the day.",
    };
    const { rules, ...rest } = need(1, [ben], { sum: { ...sum, above: "100000" } });
    await replace({ ...rest, rules: [limit, ...rules] });
    expect(await say(anna, waiting)).toBe(notListed);
    expect(await say(ben, waiting)).toBe(202);
    await tenant.settled(waiting.id, "completed");
  });

  it("asks for signatures", async () => {
    await tenant.usePolicy(need(1, [anna, ben]));
    const waiting = await ask();
    const { rules, ...rest } = need(1, [anna, ben]);
    await replace({ ...rest, rules: rules.map((rule) => ({ ...rule, signed: true })) });
    expect(await say(anna, waiting)).toContain(
      "403 POLICY_REJECTED: The policy requires approvals to be signed",
    );
    expect(await tenant.read(waiting.id)).toMatchObject({ state: "awaiting_approval", version: 2 });
  });

  it("does not count what a program has approved, if it asks for people", async () => {
    await tenant.usePolicy(need(2, [anna, ben]));
    const waiting = await ask();
    expect(await say(anna, waiting)).toBe(202);
    const { rules, ...rest } = need(2, [anna, ben]);
    await replace({ ...rest, rules: rules.map((rule) => ({ ...rule, people: true })) });
    expect(await say(ben, waiting)).toContain("403 POLICY_REJECTED: The policy requires approvals by people");
    expect((await tenant.read(waiting.id)).state).toBe("awaiting_approval");
  });
});
