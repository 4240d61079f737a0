import type { Event, Wallet } from "@bursar/protocol";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { chainClientOf } from "../../harness/chain/chain-client.js";
import { type ChainService, chainNetwork, startChainService } from "../../harness/chain/configured-chain.js";
import { eventually } from "../../harness/eventually.js";

const addressPattern = /^0x[0-9a-fA-F]{40}$/;

/** The signer is a process of its own, and is not running at first. */
describe("wallets of a chain", () => {
  let service: ChainService;
  let client: ReturnType<typeof chainClientOf>;
  beforeAll(async () => {
    service = await startChainService({ withoutSigner: true });
  });
  afterAll(() => service.stop());
  beforeEach(async () => {
    client = chainClientOf(service, await service.token(await service.createTenant("100")));
  });

  const eventsOf = async (id: string) => {
    const { body } = await client.send("GET", "/v1/events?limit=100");
    return (body as unknown as { data: Event[] }).data.flatMap(({ data }) =>
      "wallet" in data && data.wallet.id === id ? [data.wallet] : [],
    );
  };

  it("stay as they are while the signer is down, can be frozen, and become active when it is back", async () => {
    const created = await client.createWallet();
    expect(created).toMatchObject({
      network: chainNetwork,
      state: "creating",
      version: 1,
      address: null,
      account: null,
      sending: null,
    });
    const book = await client.createWallet("book");
    await client.whenActive(book.id);
    expect(await client.readWallet(created.id)).toMatchObject({ state: "creating", address: null });

    const frozen = await client.send("POST", `/v1/wallets/${created.id}/freeze`);
    expect(frozen.body).toMatchObject({ state: "creating", frozen: true, address: null });
    // Asked for while it has no address: what is remembered of it must not stay so.
    const pay = () =>
      client.create({
        ...{ reference: "early", asset: "ETH.DEV", amount: "1" },
        ...{ source: { wallet_id: created.id }, destination: { address: `0x${"ab".repeat(20)}` } },
      });
    expect((await pay()).body.error?.code).toBe("WALLET_CREATING");

    await service.startSigner();
    const active = await client.whenActive(created.id);
    expect(active).toMatchObject({ state: "active", frozen: true, version: 3 });
    expect(active.address).toMatch(addressPattern);
    expect(active.account).toBe(`${chainNetwork}:${active.address}`);
    expect(active.sending).toEqual({
      ...{ next_nonce: 0, final_nonce: 0, in_flight: 0, oldest_at: null, halted_reason: null },
      blocked_by: null,
    });
    expect(await eventsOf(created.id)).toMatchObject([
      { state: "creating", frozen: true, version: 2, address: null, account: null },
      { state: "active", frozen: true, version: 3, address: active.address, account: active.account },
    ]);
    const thawed = await client.send("POST", `/v1/wallets/${created.id}/unfreeze`);
    expect(thawed.body).toMatchObject({ state: "active", frozen: false, address: active.address });
    expect((await pay()).body.error?.code).toBe("POLICY_REJECTED");
  });

  it("have addresses that no other wallet has, with the checksum of EIP-55", async () => {
    await service.startSigner();
    const other = chainClientOf(service, await service.token(await service.createTenant()));
    const wallets = await Promise.all([
      ...Array.from({ length: 4 }, () => client.createActiveWallet()),
      other.createActiveWallet(),
    ]);
    expect(new Set(wallets.map(({ address }) => address)).size).toBe(5);
    const [{ id, address }] = wallets as [(typeof wallets)[0]];
    expect(address).not.toBe(address.toLowerCase());
    expect((await other.send("GET", `/v1/wallets/${id}`)).status).toBe(404);
    // It is the address of this wallet for good.
    expect(await client.readWallet(id)).toMatchObject({ address });
    const { body } = await client.send("GET", `/v1/wallets?network=${chainNetwork}`);
    expect((body as unknown as { data: Wallet[] }).data.map((wallet) => wallet.address)).toContain(address);
  });

  it("are refused for a network that is not configured", async () => {
    const { status, body } = await client.send("POST", "/v1/wallets", {
      ...{ name: "w", purpose: "payout", network: "eip155:1" },
    });
    expect([status, body.error?.code]).toEqual([422, "NETWORK_UNKNOWN"]);
  });

  it("are repeated as they were accepted, without the address that they have by now", async () => {
    await service.startSigner();
    const body = { name: "again", purpose: "payout", network: chainNetwork };
    const create = () => client.send("POST", "/v1/wallets", body, { "idempotency-key": "again" });
    const first = await create();
    await client.whenActive(first.body.id);
    const again = await create();
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect(again.body).toEqual(first.body);
  });

  it("say in /readyz, /v1/networks and the metrics how the signer and the chain are doing", async () => {
    await service.stopSigner();
    const checks = async () =>
      ((await (await fetch(`${service.url}/readyz`)).json()) as { checks: { signer: string } }).checks;
    await eventually(checks, ({ signer }) => signer === "down");
    expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
    await service.startSigner();
    const ready = await eventually(checks, ({ signer }) => signer === "up");
    expect(Object.keys((ready as unknown as { networks: object }).networks)).toEqual([chainNetwork]);
    const metrics = await (await fetch(`${service.url}/metrics`)).text();
    expect(metrics).toMatch(/^bursar_signer_up 1$/m);
    const { body } = await client.send("GET", "/v1/networks");
    expect(body).toMatchObject({
      data: [{ id: chainNetwork, coin: "ETH.DEV", assets: ["ETH.DEV", "USDC.DEV"], finality: "finalized" }],
    });
  });
});
