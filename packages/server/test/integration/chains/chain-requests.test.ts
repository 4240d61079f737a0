import { createHash, randomUUID } from "node:crypto";
import { type ApprovalStatus, type Event, readId } from "@bursar/protocol";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { chainClientOf } from "../../harness/chain/chain-client.js";
import {
  type ChainService,
  chainNetwork,
  nodeSecret,
  startChainService,
  usdcContract,
} from "../../harness/chain/configured-chain.js";
import { creditWallet } from "../../harness/database/credit-wallet.js";
import { eventually } from "../../harness/eventually.js";
import type { TestClient } from "../../harness/service/test-service.js";

const outside = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";

/** What is asked for, accepted and judged; nothing is paid here. */
describe("requests on a chain", () => {
  let service: ChainService;
  let tenant: TestClient;
  let client: ReturnType<typeof chainClientOf>;
  let wallet: Awaited<ReturnType<typeof client.createActiveWallet>>;
  beforeAll(async () => {
    service = await startChainService();
  });
  afterAll(async () => {
    await service.stop();
    expect(service.logLines.join("\n")).not.toContain(nodeSecret);
  });
  beforeEach(async () => {
    tenant = await service.createTenant("100");
    client = chainClientOf(service, await service.token(tenant));
    wallet = await client.createActiveWallet();
  });

  const pay = (destination: object, more: object = {}) =>
    client.create({
      ...{ reference: "pay", asset: "USDC.DEV", amount: "1", source: { wallet_id: wallet.id } },
      ...{ destination, ...more },
    });
  const replacePolicy = async (document: object) => {
    const { headers } = await client.send("GET", "/v1/policy");
    const etag = headers.get("etag") ?? "";
    expect((await client.send("PUT", "/v1/policy", document, { "if-match": etag })).status).toBe(200);
  };
  const listAddress = async (address: string) => {
    const body = { label: "outside", network: chainNetwork, address };
    const { body: listed } = await client.send("POST", "/v1/destinations", body);
    return (listed as unknown as { id: string }).id;
  };

  it.each<[what: string, address: string]>([
    ["a wrong checksum", "0x70997970c51812dc3A010C7d01b50e0d17dc79C8"],
    ["too few digits", "0x70997970"],
    ["the zero address", `0x${"0".repeat(40)}`],
    ["a precompiled contract", `0x${"0".repeat(39)}1`],
    ["the last precompiled contract", `0x${"0".repeat(37)}100`],
    ["the contract of the token", usdcContract],
  ])("are refused for an address that is or has %s", async (_what, address) => {
    await client.allowEverything();
    const { status, body } = await pay({ address });
    expect([status, body.error?.code]).toEqual([422, "ADDRESS_INVALID"]);
    expect(body.error?.details?.[0]?.path).toBe("body.destination.address");
  });

  it("are refused if the source pays itself, by its id or by its address", async () => {
    await client.allowEverything();
    expect((await pay({ address: wallet.address })).body.error?.code).toBe("ADDRESS_INVALID");
    expect((await pay({ address: wallet.address.toLowerCase() })).body.error?.code).toBe("ADDRESS_INVALID");
    expect((await pay({ wallet_id: wallet.id })).body.error?.code).toBe("INVALID_REQUEST");
  });

  it("take the address of an own wallet for that wallet, and that of another tenant's for an address", async () => {
    const own = await client.createActiveWallet();
    for (const address of [own.address, own.address.toLowerCase()]) {
      const { status, body } = await pay({ address });
      expect([status, body.kind]).toEqual([202, "transfer"]);
      expect(body.destination).toEqual({ wallet_id: own.id });
    }
    const stranger = chainClientOf(service, await service.token(await service.createTenant()));
    const theirs = await stranger.createActiveWallet();
    expect((await pay({ address: theirs.address })).body.error?.code).toBe("POLICY_REJECTED");
    await client.allowEverything();
    const { body } = await pay({ address: theirs.address });
    expect(body).toMatchObject({ kind: "payout", destination: { address: theirs.address.toLowerCase() } });
  });

  it("are refused if the asset and the wallets are on different networks", async () => {
    await client.allowEverything();
    const codes = [
      await pay({ address: outside }, { asset: "USD" }),
      await pay({ address: outside }, { source: undefined }),
      await pay({}, { destination: undefined }),
    ].map(({ body }) => body.error?.code);
    expect(codes).toEqual(["NETWORK_MISMATCH", "NETWORK_MISMATCH", "NETWORK_MISMATCH"]);
  });

  it("cannot trade with a wallet of a chain, or deposit to one", async () => {
    const order = { market: "ETH-USD", side: "buy", price: "1", size: "1", wallet_id: wallet.id };
    const placed = await client.send("POST", "/v1/orders", order, { "idempotency-key": randomUUID() });
    expect([placed.status, placed.body.error?.code]).toEqual([422, "NETWORK_MISMATCH"]);
    const { token } = await service.createIndependentClient(tenant, ["deposits:write"]);
    const deposit = {
      ...{ reference: "d", asset: "USDC.DEV", amount: "1", destination: { wallet_id: wallet.id } },
    };
    const made = await service.call("POST", "/v1/deposits", token, deposit, {
      "idempotency-key": randomUUID(),
    });
    expect(((await made.json()) as { error: { code: string } }).error.code).toBe("DEPOSIT_NOT_SUPPORTED");
  });

  it("are judged by whether their address is on the allow-list, when they are accepted", async () => {
    expect((await pay({ address: outside })).body.error?.code).toBe("POLICY_REJECTED");
    await listAddress(outside.toLowerCase());
    expect((await pay({ address: outside })).status).toBe(202);
  });

  it("are judged by it in the engine too, if a limit has to be counted", async () => {
    const count = { per: "tenant", period_seconds: 3600, above: 100 };
    await replacePolicy({
      rules: [
        { name: "many", when: { count }, action: "reject", reason: "Too many." },
        { name: "listed", when: { destinations: ["listed_address"] }, action: "allow" },
      ],
      default: { action: "reject", reason: "Not listed." },
    });
    const { body: refused } = await pay({ address: outside });
    expect(await client.settled(refused.id)).toMatchObject({
      state: "rejected",
      failure: { code: "POLICY_REJECTED" },
    });
    await listAddress(outside);
    const { body: allowed } = await pay({ address: outside });
    // The wallet is empty, so this is as far as it comes.
    expect(await client.settled(allowed.id)).toMatchObject({
      state: "failed",
      failure: { code: "INSUFFICIENT_FUNDS" },
    });
  });

  it("show policy evaluation the same kinds of destination", async () => {
    const evaluate = async (address: string) => {
      const transaction = {
        ...{ reference: "if", asset: "USDC.DEV", amount: "1", source: { wallet_id: wallet.id } },
        destination: { network: chainNetwork, address },
      };
      const { body } = await client.send("POST", "/v1/policy/evaluate", { transaction });
      return (body as unknown as { rule: string }).rule;
    };
    const own = await client.createActiveWallet();
    expect(await evaluate(own.address)).toBe("own-wallets");
    await listAddress(outside);
    expect(await evaluate(outside)).toBe("listed-addresses");
  });

  it("show approvers the real network and address, and are rejected if that has left the allow-list", async () => {
    const approvers = [
      await service.createIndependentClient(tenant, ["transactions:approve", "transactions:read"]),
    ];
    await replacePolicy({
      rules: [
        { name: "ask", when: { destinations: ["listed_address"] }, action: "require_approval", approvals: 1 },
      ],
      default: { action: "reject", reason: "Not listed." },
    });
    const destination = await listAddress(outside);
    await giveMoney();
    const [stays, leaves] = [await waiting(), await waiting()];
    expect(stays.approval?.rule).toBe("ask");
    const { body: evidence } = await client.send("GET", `/v1/transactions/${stays.id}/approvals`);
    const { content, digest } = evidence as unknown as { content: string; digest: string };
    expect(JSON.parse(content)).toMatchObject({
      network: chainNetwork,
      kind: "payout",
      destination: { address: outside.toLowerCase() },
    });
    expect(createHash("sha256").update(content).digest("hex")).toBe(digest);
    await approve(stays);
    // Its driver takes it, and finds no coins for the fee.
    const taken = await client.settled(stays.id);
    expect(taken.history.map(({ state }) => state)).toContain("processing");

    expect((await client.send("DELETE", `/v1/destinations/${destination}`)).status).toBe(204);
    await approve(leaves);
    expect(await client.settled(leaves.id)).toMatchObject({
      state: "rejected",
      failure: { code: "ADDRESS_NOT_LISTED" },
    });

    async function waiting() {
      const { body } = await pay({ address: outside });
      return await eventually(
        async () => (await client.read(body.id)).body,
        ({ state }) => state === "awaiting_approval",
      );
    }

    async function approve({ id, approval }: { id: string; approval: ApprovalStatus | null }) {
      const body = { decision: "approve", digest: approval?.digest };
      const path = `/v1/transactions/${id}/approvals`;
      expect((await service.call("POST", path, approvers[0]?.token, body)).status).toBe(202);
    }
  });

  it("can be sped up only while they wait for a block", async () => {
    const unknown = await client.send("POST", "/v1/transactions/tx_01h455vb4pex5vsknk084sn02q/speed-up");
    expect([unknown.status, unknown.body.error?.code]).toEqual([404, "TRANSACTION_NOT_FOUND"]);
    const { body } = await client.create({ reference: "book", asset: "USD", amount: "1" });
    const refused = await client.send("POST", `/v1/transactions/${body.id}/speed-up`);
    expect([refused.status, refused.body.error?.code]).toEqual([409, "NOT_REPLACEABLE"]);
  });

  it("stop a payment that was sent when its wallet is frozen: it is not sped up, and fails by the client that froze it", async () => {
    await client.allowEverything();
    const fund = { address: wallet.address, amount: "1000000000000000000", asset: "ETH" } as const;
    await service.devnet.control("devnet_fund", fund);
    await eventually(
      () => client.readWallet(wallet.id),
      ({ balances }) => balances.some(({ available }) => available === "1"),
    );
    await service.devnet.control("devnet_setMining", { mode: "manual" });
    const { body: created } = await pay({ address: outside }, { asset: "ETH.DEV", amount: "0.5" });
    await eventually(
      async () => (await client.read(created.id)).body.state,
      (state) => state === "broadcast",
    );
    // The one behind it gains nothing by higher fees.
    const { body: behind } = await pay({ address: outside }, { asset: "ETH.DEV", amount: "0.1" });
    await eventually(
      async () => (await client.read(behind.id)).body.state,
      (state) => state === "broadcast",
    );
    const waits = await client.send("POST", `/v1/transactions/${behind.id}/speed-up`);
    expect([waits.status, waits.body.error?.code]).toEqual([409, "NOT_REPLACEABLE"]);
    expect(waits.body.error?.details?.[0]?.reason).toContain(created.id);
    const [payment] = await service.devnet.control("devnet_listPool", {});
    const found = async (by: string) =>
      (await (
        await service.call("GET", `/v1/search?q=${payment?.hash.toUpperCase().replace("X", "x")}`, by)
      ).json()) as object;
    expect(await found(await service.token(tenant))).toMatchObject({
      data: [{ object: "transaction", id: created.id, match: "hash", label: "pay" }],
    });
    expect(await found(await service.token(await service.createTenant()))).toEqual({ data: [] });
    const { token, clientId } = await service.createIndependentClient(tenant, ["wallets:freeze"]);
    expect((await service.call("POST", `/v1/wallets/${wallet.id}/freeze`, token)).status).toBe(200);
    const refused = await client.send("POST", `/v1/transactions/${created.id}/speed-up`);
    expect([refused.status, refused.body.error?.code]).toEqual([409, "NOT_REPLACEABLE"]);
    expect(refused.body.error?.details?.[0]?.reason).toMatch(/frozen|cancelled/);
    await eventually(
      () => service.devnet.control("devnet_listPool", {}),
      ([waiting]) => waiting !== undefined && waiting.hash !== payment?.hash,
    );
    await service.devnet.control("devnet_setMining", { mode: "interval", blockTimeMs: 50 });
    expect(await client.settled(created.id)).toMatchObject({
      state: "failed",
      failure: { code: "WALLET_FROZEN" },
    });
    const { body } = await client.send("GET", "/v1/events?limit=100");
    const { data: events } = body as unknown as { data: Event[] };
    const last = events.findLast(({ data }) => "transaction" in data && data.transaction.id === created.id);
    expect(last?.actor).toEqual({ type: "client", client_id: clientId });
  });

  it("never see the URL of a node", async () => {
    const { text } = await client.send("GET", "/v1/networks");
    expect(text).not.toContain(nodeSecret);
    expect(text).not.toContain("127.0.0.1");
  });

  /** In the ledger alone: nothing is sent here. */
  const giveMoney = () =>
    creditWallet(service.database, {
      tenantId: readId("tnt", tenant.tenantId) ?? "",
      walletId: readId("wlt", wallet.id) ?? "",
      ...{ asset: "USDC.DEV", amount: 100_000_000n, id: randomUUID() },
    });
});
