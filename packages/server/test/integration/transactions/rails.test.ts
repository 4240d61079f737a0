import { randomUUID } from "node:crypto";
import type { Transaction, Wallet } from "@bursar/protocol";
import { readId } from "@bursar/protocol";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { nodeTimers } from "../../../src/runtime/loops/timers.js";
import { auditLedger } from "../../../src/store/ledger/audit-ledger.js";
import { eventually } from "../../harness/eventually.js";
import { createSteppingNetwork, type NetworkPlan } from "../../harness/rails/stepping-network.js";
import { createSteppingRail, steppingAssets } from "../../harness/rails/stepping-rail.js";
import { startTestService, type TestService } from "../../harness/service/test-service.js";
import { assertCancelRequested } from "../../harness/transactions/cancel-request.js";
import { transactionsOf } from "../../harness/transactions/transactions-client.js";

const smooth: NetworkPlan = { reorganisations: 0, reverts: false, obeysCancel: true };

/** The whole service with a rail of several steps beside the book; blocks come when a test says so. */
describe("a rail of several steps", () => {
  let service: TestService;
  let tenantId: string;
  let api: ReturnType<typeof transactionsOf>;
  let wallet: string;
  let plan: NetworkPlan;
  const network = createSteppingNetwork(() => plan);
  const rail = createSteppingRail({ network, timers: nodeTimers });

  beforeAll(async () => {
    plan = smooth;
    service = await startTestService({ BURSAR_DESTINATION_DELAY_SECONDS: "0" }, undefined, undefined, {
      parts: [rail],
      assets: steppingAssets,
    });
  });
  afterAll(async () => {
    const violated = (await auditLedger(service.database)).filter(({ violations }) => violations.length > 0);
    await service.stop();
    expect(violated).toEqual([]);
  });
  beforeEach(async () => {
    plan = smooth;
    const tenant = await service.createTenant("100");
    tenantId = readId("tnt", tenant.tenantId) ?? "";
    api = transactionsOf(service, await service.token(tenant));
    await allowAddresses();
    wallet = await createWallet();
  });

  async function createWallet(): Promise<string> {
    const body = { name: "steps", purpose: "payout", network: "test:steps" };
    const { body: created } = await api.send("POST", "/v1/wallets", body, {
      "idempotency-key": randomUUID(),
    });
    return created.id;
  }

  async function allowAddresses(): Promise<void> {
    const { headers } = await api.send("GET", "/v1/policy");
    const document = { rules: [], default: { action: "allow" } };
    const etag = headers.get("etag") ?? "";
    const { status } = await api.send("PUT", "/v1/policy", document, { "if-match": etag });
    expect(status).toBe(200);
  }

  /** Lets blocks come until the transaction is as expected. */
  const advanceUntil = (id: string, isExpected: (transaction: Transaction) => boolean) =>
    eventually(async () => {
      network.advance();
      return (await api.read(id)).body;
    }, isExpected);
  const waitFor = (id: string, state: Transaction["state"]) =>
    eventually(
      async () => (await api.read(id)).body,
      (transaction) => transaction.state === state,
    );
  const isFinal = ({ state }: Transaction) =>
    ["completed", "rejected", "failed", "cancelled"].includes(state);
  const statesOf = ({ history }: Transaction) => history.map(({ state }) => state);

  const balances = async () => {
    const { body } = await api.send("GET", `/v1/wallets/${wallet}`);
    const held = (body as unknown as Wallet).balances.map(({ asset, available, held }) => [
      asset,
      `${available}+${held}`,
    ]);
    return Object.fromEntries(held) as Record<string, string>;
  };

  const findDeposit = (hash: string) =>
    eventually(
      async () =>
        (
          (await api.send("GET", `/v1/transactions?reference=${hash}`)).body as unknown as {
            data: Transaction[];
          }
        ).data[0],
      (found) => found !== undefined,
    ) as Promise<Transaction>;

  async function deposit(asset: string, amount: bigint): Promise<Transaction> {
    const transfer = {
      tenantId,
      walletId: readId("wlt", wallet) ?? "",
      asset,
      amount,
      fromAddress: "step1outside",
    };
    const hash = network.deposit(transfer);
    network.advance();
    const { id } = await findDeposit(hash);
    return await advanceUntil(id, isFinal);
  }

  async function pay(amount: string, more: object = {}): Promise<string> {
    const body = {
      reference: "payout",
      asset: "STEP",
      amount,
      source: { wallet_id: wallet },
      destination: { address: "STEP1alice" },
      ...more,
    };
    const { status, body: created } = await api.create(body);
    expect(status).toBe(202);
    return created.id;
  }

  const fund = async () => [await deposit("STEP", 1000n), await deposit("GAS", 20n)];

  it("credits a deposit when it is final, once, and shows where it came from", async () => {
    const done = await deposit("STEP", 1000n);
    expect(done).toMatchObject({
      kind: "deposit",
      state: "completed",
      network: "test:steps",
      source: { address: "step1outside" },
      destination: { wallet_id: wallet },
      amount: "10",
      fee: null,
    });
    expect(statesOf(done)).toEqual(["accepted", "confirming", "completed"]);
    network.advance();
    expect(await balances()).toEqual({ STEP: "10+0" });
  });

  it("forgets a deposit that a reorganisation has removed", async () => {
    plan = { ...smooth, reorganisations: 1, reverts: true };
    const failed = await deposit("STEP", 1000n);
    expect(failed).toMatchObject({ state: "failed", failure: { code: "DEPOSIT_REORGANISED" } });
    expect(statesOf(failed)).toEqual(["accepted", "confirming", "broadcast", "failed"]);
    expect(await balances()).toEqual({ STEP: "0+0" });
  });

  it("completes a payout through all its states and pays the fee in another asset", async () => {
    await fund();
    plan = { ...smooth, reorganisations: 1 };
    const id = await pay("2.50");
    await waitFor(id, "broadcast");
    expect(await balances()).toEqual({ STEP: "7.5+2.5", GAS: "13+7" });
    const hash = `0x${(readId("tx", id) ?? "").replaceAll("-", "")}`;
    await eventually(
      () => network.payments(),
      (sent) => sent.includes(hash),
    );
    // A block comes only when the driver has seen the one before, so that it misses no state.
    for (const state of ["confirming", "broadcast", "confirming"] as const) {
      network.advance();
      await waitFor(id, state);
    }
    const done = await advanceUntil(id, isFinal);
    expect(done).toMatchObject({
      kind: "payout",
      state: "completed",
      network: "test:steps",
      source: { wallet_id: wallet },
      destination: { address: "step1alice" },
      fee: { asset: "GAS", amount: "5" },
    });
    expect(statesOf(done)).toEqual([
      ...["accepted", "processing", "broadcast", "confirming"],
      ...["broadcast", "confirming", "completed"],
    ]);
    expect(await balances()).toEqual({ STEP: "7.5+0", GAS: "15+0" });
  });

  it("charges the fee of a payout that the network reverts, and nothing else", async () => {
    await fund();
    plan = { ...smooth, reverts: true };
    const failed = await advanceUntil(await pay("2.50"), isFinal);
    expect(failed).toMatchObject({
      state: "failed",
      failure: { code: "EXECUTION_REVERTED" },
      fee: { asset: "GAS", amount: "5" },
    });
    expect(await balances()).toEqual({ STEP: "10+0", GAS: "15+0" });
  });

  it("fails a payout whose fee cannot be held, and releases its amount", async () => {
    await deposit("STEP", 1000n);
    const failed = await api.settled(await pay("2.50"));
    expect(failed).toMatchObject({
      state: "failed",
      failure: { code: "INSUFFICIENT_FEE_FUNDS" },
      fee: null,
    });
    expect((await balances())["STEP"]).toBe("10+0");
  });

  it("keeps the funds of a payout held when its cancellation is requested, until the network has cancelled it", async () => {
    await fund();
    const id = await pay("2.50");
    const waiting = await waitFor(id, "broadcast");
    const { status, body } = await api.send("POST", `/v1/transactions/${id}/cancel`);
    expect([status, body.state, body.version]).toEqual([202, "broadcast", waiting.version]);
    await assertCancelRequested(api, waiting);
    expect((await balances())["STEP"]).toBe("7.5+2.5");
    await eventually(network.hasCancelRequest, (isRequested) => isRequested);
    const cancelled = await advanceUntil(id, isFinal);
    expect(cancelled).toMatchObject({
      state: "cancelled",
      fee: { asset: "GAS", amount: "5" },
      cancel_request: null,
    });
    expect(await balances()).toEqual({ STEP: "10+0", GAS: "15+0" });
    expect((await api.send("POST", `/v1/transactions/${id}/cancel`)).status).toBe(202);
  });

  it("completes a payout whose cancellation the network did not obey, and refuses to cancel it in a block", async () => {
    await fund();
    plan = { ...smooth, obeysCancel: false };
    const sentBefore = network.payments().length;
    const id = await pay("2.50");
    await eventually(
      () => network.payments().length,
      (sent) => sent > sentBefore,
    );
    expect((await api.send("POST", `/v1/transactions/${id}/cancel`)).status).toBe(202);
    network.advance();
    await waitFor(id, "confirming");
    const refused = await api.send("POST", `/v1/transactions/${id}/cancel`);
    expect([refused.status, refused.body.error?.code]).toEqual([409, "NOT_CANCELLABLE"]);
    expect(await advanceUntil(id, isFinal)).toMatchObject({ state: "completed" });
    expect(await balances()).toEqual({ STEP: "7.5+0", GAS: "15+0" });
  });

  it("gives back what a payout counted towards a limit when it fails on the network", async () => {
    await fund();
    const { headers } = await api.send("GET", "/v1/policy");
    const sum = { asset: "STEP", per: "tenant", period_seconds: 3600, above: "3" };
    const rules = [{ name: "limit", when: { sum }, action: "reject", reason: "too much" }];
    const document = { rules, default: { action: "allow" } };
    const etag = headers.get("etag") ?? "";
    await api.send("PUT", "/v1/policy", document, { "if-match": etag });
    plan = { ...smooth, reverts: true };
    expect(await advanceUntil(await pay("2.50"), isFinal)).toMatchObject({ state: "failed" });
    plan = smooth;
    expect(await advanceUntil(await pay("2.50"), isFinal)).toMatchObject({ state: "completed" });
    expect(await api.settled(await pay("2.50"))).toMatchObject({ state: "rejected" });
  });

  it.each<[what: string, more: object, status: number, code: string]>([
    ["an address of another network", { destination: { address: "0xabc" } }, 422, "ADDRESS_INVALID"],
    ["a wallet of the book as destination", { destination: undefined }, 422, "NETWORK_MISMATCH"],
    ["a wallet of the book as source", { source: undefined }, 422, "NETWORK_MISMATCH"],
    ["an asset of the book", { asset: "USD" }, 422, "NETWORK_MISMATCH"],
  ])("refuses %s", async (_what, more, status, code) => {
    const body = {
      ...{ reference: "r", asset: "STEP", amount: "1", source: { wallet_id: wallet } },
      ...{ destination: { address: "step1alice" } },
      ...more,
    };
    const refused = await api.create(body);
    expect([refused.status, refused.body.error?.code]).toEqual([status, code]);
  });

  it("refuses an address on the book, and an order from a wallet of another network", async () => {
    const address = { destination: { address: "step1alice" } };
    const payout = await api.create({ reference: "r", asset: "USD", amount: "1", ...address });
    expect([payout.status, payout.body.error?.code]).toEqual([422, "ADDRESS_NOT_SUPPORTED"]);
    const order = { market: "ETH-USD", side: "buy", type: "limit", price: "1", size: "1", wallet_id: wallet };
    const placed = await api.send("POST", "/v1/orders", order, { "idempotency-key": randomUUID() });
    expect([placed.status, placed.body.error?.code]).toEqual([422, "NETWORK_MISMATCH"]);
  });

  it("accepts its network in a policy, and shows it in what an approver signs", async () => {
    const { headers } = await api.send("GET", "/v1/policy");
    const rule = {
      name: "steps",
      when: { networks: ["test:steps"], destinations: ["address"] },
      action: "require_approval",
      approvals: 1,
    };
    const document = { rules: [rule], default: { action: "allow" } };
    const etag = headers.get("etag") ?? "";
    expect((await api.send("PUT", "/v1/policy", document, { "if-match": etag })).status).toBe(200);
    await fund();
    const waiting = await waitFor(await pay("1"), "awaiting_approval");
    expect(waiting).toMatchObject({ kind: "payout", approval: { rule: "steps", state: "pending" } });
    expect((await api.send("POST", `/v1/transactions/${waiting.id}/cancel`)).body.state).toBe("cancelled");
  });
});
