import { isDeepStrictEqual } from "node:util";
import type { Event, Network, Wallet } from "@bursar/protocol";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { describeAct, nilTenantId } from "../../../src/app/audit/audit-entry.js";
import { resumeNetwork } from "../../../src/store/chain/resume-chain.js";
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

  describe("with blocks that are mined by hand", () => {
    const mine = (blocks: number) => service.devnet.control("devnet_mine", { blocks });
    const readNetwork = async () =>
      ((await client.send("GET", "/v1/networks")).body as unknown as { data: Network[] }).data[0];
    const blockNumber = async () => Number(await service.devnet.request("eth_blockNumber", []));
    const whenSettled = (number: number) =>
      eventually(readNetwork, (network) => network?.settled_block === number);
    const fund = (address: string, asset: "ETH" | "NORET" | "USDC", amount: bigint) =>
      service.devnet.control("devnet_fund", { address, asset, amount: amount.toString() });
    beforeEach(async () => {
      await service.startSigner();
      await service.devnet.control("devnet_setMining", { mode: "manual" });
    });
    afterEach(() => service.devnet.control("devnet_setMining", { mode: "interval", blockTimeMs: 50 }));

    it("the newest block and its base fee are shown", async () => {
      for (const gwei of ["7", "9.000000001"]) {
        const wei = String(BigInt(Number(gwei) * 1e9));
        await service.devnet.control("devnet_setBaseFee", { wei, hold: true });
        await mine(1);
        const head = await blockNumber();
        const network = await eventually(readNetwork, (found) => found?.head_block === head);
        expect(network).toMatchObject({ state: "following", base_fee_gwei: gwei, final_block: head - 4 });
      }
      await service.devnet.control("devnet_setBaseFee", {});
    });

    it("a deposit is incoming until its block is final, and on the chain at a block that is named", async () => {
      const { id, address } = await client.createActiveWallet();
      await fund(address, "ETH", 3n * 10n ** 18n);
      await mine(1);
      const balance = async () =>
        (await client.readWallet(id)).balances.find(({ asset }) => asset === "ETH.DEV");
      await eventually(balance, (found) => found?.incoming === "3");
      const before = await balance();
      expect(before).toMatchObject({ asset: "ETH.DEV", available: "0", held: "0", incoming: "3" });
      // It may have been compared at a block before the deposit.
      expect(["0", undefined]).toContain(before?.on_chain?.amount);
      const first = await blockNumber();
      await mine(4);
      await whenSettled(first);
      expect(await balance()).toMatchObject({ available: "3", incoming: "0" });
      expect(await eventually(balance, (found) => found?.on_chain?.amount === "3")).toEqual({
        ...{ asset: "ETH.DEV", available: "3", held: "0", incoming: "0" },
        on_chain: { amount: "3", block_number: first },
      });
      await fund(address, "ETH", 10n ** 18n);
      await mine(1);
      await eventually(balance, (found) => found?.incoming === "1");
      // What is not final does not count as on the chain.
      expect(await balance()).toMatchObject({ available: "3", on_chain: { amount: "3" } });
    });

    it("a token that is not configured is ignored, and what comes with it is not", async () => {
      const { id, address } = await client.createActiveWallet();
      await fund(address, "NORET", 5_000_000n);
      await fund(address, "USDC", 2_000_000n);
      await mine(1);
      const head = await blockNumber();
      await mine(4);
      await whenSettled(head);
      const wallet = await client.readWallet(id);
      expect(wallet.balances).toMatchObject([{ asset: "USDC.DEV", available: "2", incoming: "0" }]);
      const { body } = await client.send("GET", "/v1/transactions?kind=deposit");
      expect((body as unknown as { data: object[] }).data).toMatchObject([
        { asset: "USDC.DEV", amount: "2" },
      ]);
    });

    it("a halted network is shown by /readyz, /v1/networks and the metrics until it is resumed", async () => {
      const shown = async () => {
        const ready = await fetch(`${service.url}/readyz`);
        const { checks } = (await ready.json()) as { checks: { networks: Record<string, string> } };
        const metrics = await (await fetch(`${service.url}/metrics`)).text();
        return {
          ...{
            ready: ready.status,
            check: checks.networks[chainNetwork],
            state: (await readNetwork())?.state,
          },
          gauge: /^bursar_network_halted\{network="eip155:31337"\} (\d)$/m.exec(metrics)?.[1],
        };
      };
      const following = { ready: 200, check: "following", state: "following", gauge: "0" };
      await eventually(shown, (found) => isDeepStrictEqual(found, following));
      const fault = { methods: ["eth_chainId"], effect: { kind: "wrong" as const, result: "0x1" } };
      await service.devnet.control("devnet_addFault", { node: "main", fault });
      const halted = { ready: 200, check: "halted", state: "halted", gauge: "1" };
      await eventually(shown, (found) => isDeepStrictEqual(found, halted));
      await service.devnet.control("devnet_clearFaults", { node: "main" });
      const act = { by: "operator", tenantId: nilTenantId } as const;
      const entry = describeAct(act, "network.resume", chainNetwork, new Date());
      expect(await resumeNetwork(service.keyed, chainNetwork, entry)).toBe("resumed");
      await eventually(shown, (found) => isDeepStrictEqual(found, following));
    });
  });
});
