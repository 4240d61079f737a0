import { marketClearingAccountId } from "@bursar/domain";
import { showId } from "@bursar/protocol";
import { beforeAll, describe, expect, it } from "vitest";
import { auditLedger } from "../../../src/store/ledger/audit-ledger.js";
import { inspectSharedService } from "../../harness/service/shared-service.js";
import { createDepositTenant } from "../../harness/transactions/deposits-client.js";
import { startWebhookReceiver } from "../../harness/webhooks/webhook-receiver.js";

const service = await inspectSharedService();

interface Page<T> {
  data: T[];
}

describe("a deposit", () => {
  let tenant: Awaited<ReturnType<typeof createDepositTenant>>;
  beforeAll(async () => {
    tenant = await createDepositTenant(service);
  });

  it("credits the wallet, is completed at once, and can be read, listed and found in the audit log", async () => {
    const { bank, admin, deposit, walletId, available } = await createDepositTenant(service);
    const created = await deposit({ metadata: { bank: "first" } }, "statement-7-1");
    const { id } = created.body;
    expect([created.status, created.headers.get("location")]).toEqual([201, `/v1/transactions/${id}`]);
    expect(created.body).toMatchObject({
      kind: "deposit",
      state: "completed",
      version: 2,
      reference: "statement 7/1",
      amount: "25.5",
      source: null,
      destination: { wallet_id: walletId },
      network: "book",
      metadata: { bank: "first" },
      created_by: bank.clientId,
      policy_version: 0,
      history: [{ state: "accepted" }, { state: "completed", actor: { client_id: bank.clientId } }],
    });
    const read = await bank.read(id);
    expect([read.body, read.headers.get("etag")]).toEqual([created.body, created.headers.get("etag")]);
    expect(await available()).toBe("25.5");
    const listed = async (query: string) =>
      ((await admin.send("GET", `/v1/transactions?${query}`)).body as unknown as Page<{ id: string }>).data;
    await admin.settled((await admin.create({ reference: "t", asset: "USD", amount: "1" })).body.id);
    expect(await listed("kind=deposit")).toEqual([created.body]);
    expect(await listed("idempotency_key=statement-7-1")).toEqual([created.body]);
    expect(await listed(`kind=deposit&state=completed&wallet_id=${walletId}`)).toHaveLength(1);
    expect(await listed("kind=deposit&state=failed")).toEqual([]);
    expect(await listed(`kind=transfer&wallet_id=${walletId}`)).toMatchObject([{ kind: "transfer" }]);
    expect(await listed("kind=payout")).toEqual([]);
    const audit = (await admin.send("GET", "/v1/audit")).body as unknown as Page<object>;
    expect(audit.data).toContainEqual(
      expect.objectContaining({ action: "deposit.create", object: id, client_id: bank.clientId }),
    );
  });

  it("is announced by one event, to the log and to webhooks, with which a follower keeps balances", async () => {
    const { admin, deposit, walletId } = await createDepositTenant(service);
    const receiver = await startWebhookReceiver();
    const endpoint = await admin.send("POST", "/v1/webhook-endpoints", { url: `${receiver.url}/hook` });
    await admin.send("POST", `/v1/webhook-endpoints/${endpoint.body.id}/verify`);
    const { body } = await deposit();
    const [delivered] = await receiver.arrived("/hook", 1);
    await receiver.stop();
    expect(delivered?.body).toMatchObject({
      event: "transaction.updated",
      data: {
        transaction: {
          id: body.id,
          kind: "deposit",
          state: "completed",
          destination: { wallet_id: walletId },
        },
        previous_state: "accepted",
      },
    });
    const log = (await admin.send("GET", "/v1/events")).body as unknown as Page<{
      event: string;
      actor: object;
    }>;
    expect(log.data).toMatchObject([{ event: "transaction.updated", actor: { type: "client" } }]);
  });

  it("is made once for each key, whatever is repeated, and however many arrive at once", async () => {
    const { deposit, available } = await createDepositTenant(service);
    const answers = await Promise.all(Array.from({ length: 20 }, () => deposit({}, "one")));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    const replayed = answers.filter(({ headers }) => headers.get("idempotent-replayed") === "true");
    expect(replayed).toHaveLength(19);
    expect(await available()).toBe("25.5");
    const other = await deposit({ amount: "25.51" }, "one");
    expect([other.status, other.body.error?.code]).toEqual([422, "IDEMPOTENCY_KEY_REUSED"]);
    expect(await available()).toBe("25.5");
  });

  it("has keys of its own: a payment with the same key, in any form, is another request", async () => {
    const { admin, deposit } = await createDepositTenant(service);
    const made = await deposit({}, "same");
    const paid = await admin.create({ reference: "p", asset: "USD", amount: "1" }, "same");
    expect([paid.status, paid.headers.get("idempotent-replayed")]).toEqual([202, null]);
    expect(paid.body.id).not.toBe(made.body.id);
    const item = { idempotency_key: "deposits new", reference: "p", asset: "USD", amount: "1" };
    const batch = await admin.send("POST", "/v1/transactions/batch", { transactions: [item] });
    expect(batch.text).toContain("IDEMPOTENCY_KEY_INVALID");
  });

  it.each<[what: string, more: object, status: number, code: string]>([
    ["zero", { amount: "0" }, 400, "INVALID_REQUEST"],
    ["a negative amount", { amount: "-5" }, 400, "INVALID_REQUEST"],
    ["a number", { amount: 5 }, 400, "INVALID_REQUEST"],
    ["an exponent", { amount: "1e3" }, 400, "INVALID_REQUEST"],
    ["too many decimals", { amount: "1.001" }, 422, "AMOUNT_PRECISION_EXCEEDED"],
    ["more than the maximum", { amount: "9".repeat(60) }, 422, "AMOUNT_OUT_OF_RANGE"],
    ["an unknown asset", { asset: "XYZ" }, 422, "ASSET_UNKNOWN"],
    ["no destination", { destination: undefined }, 400, "INVALID_REQUEST"],
    ["an address", { destination: { address: "0x1" } }, 400, "INVALID_REQUEST"],
    ["a source", { source: { wallet_id: "wlt_1" } }, 400, "INVALID_REQUEST"],
    ["no wallet's id", { destination: { wallet_id: "wlt_1" } }, 422, "WALLET_UNKNOWN"],
    [
      "the clearing account of a market",
      { destination: { wallet_id: showId("wlt", marketClearingAccountId) } },
      422,
      "WALLET_UNKNOWN",
    ],
  ])("refuses %s", async (_what, more, status, code) => {
    const answer = await tenant.deposit(more);
    expect([answer.status, answer.body.error?.code]).toEqual([status, code]);
    expect(await tenant.available()).toBeUndefined();
  });

  it("requires a key", async () => {
    const answer = await tenant.bank.send("POST", "/v1/deposits", tenant.bodyOf());
    expect([answer.status, answer.body.error?.code]).toEqual([400, "IDEMPOTENCY_KEY_MISSING"]);
  });

  it("refuses the wallet of another tenant like one that does not exist", async () => {
    const stranger = await createDepositTenant(service);
    const answer = await stranger.deposit({ destination: { wallet_id: tenant.walletId } });
    expect([answer.status, answer.body.error?.code]).toEqual([422, "WALLET_UNKNOWN"]);
    expect(await tenant.available()).toBeUndefined();
  });

  it("is not judged by the policy, does not count towards limits, and is credited to a frozen wallet", async () => {
    const { admin, deposit, walletId, available } = await createDepositTenant(service);
    const sum = { asset: "USD", per: "tenant", period_seconds: 3600, above: "10" };
    const rule = { name: "limit", when: { sum }, action: "reject", reason: "Too much." };
    const policy = { rules: [rule], default: { action: "allow" } };
    expect((await admin.send("PUT", "/v1/policy", policy, { "if-match": '"0"' })).status).toBe(200);
    expect((await deposit({ amount: "1000" })).status).toBe(201);
    const paid = await admin.create({ reference: "p", asset: "USD", amount: "10" });
    expect(await admin.settled(paid.body.id)).toMatchObject({ state: "completed" });
    expect((await admin.send("POST", `/v1/wallets/${walletId}/freeze`)).status).toBe(200);
    expect((await deposit({ amount: "5" })).status).toBe(201);
    expect(await available()).toBe("995");
  });

  it("is refused to a client that is disabled and to a tenant that is suspended", async () => {
    const { owner, bank, deposit, available } = await createDepositTenant(service);
    await service.setTenantSuspended(owner, true);
    expect((await deposit({}, "k")).body.error?.code).toBe("TENANT_SUSPENDED");
    await service.setTenantSuspended(owner, false);
    await service.changeAsOperator(bank, { state: "disabled" });
    expect((await deposit({}, "k")).body.error?.code).toBe("TOKEN_REVOKED");
    expect(await available()).toBeUndefined();
  });

  it("leaves a ledger that balances", async () => {
    const violations = (await auditLedger(service.database)).flatMap((verdict) => verdict.violations);
    expect(violations).toEqual([]);
  });
});
