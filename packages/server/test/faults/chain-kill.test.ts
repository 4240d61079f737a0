import { contracts, type SpawnedDevnet, spawnDevnet } from "@bursar/devnet";
import { createAssetRegistry } from "@bursar/domain";
import { type SpawnedSigner, spawnSigner } from "@bursar/signer";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ChainNetwork } from "../../src/app/chain/chain-network.js";
import { createSignerClient } from "../../src/rails/evm/signer-client.js";
import { verifySigned } from "../../src/rails/evm/transaction/verify-signed.js";
import { auditLedger } from "../../src/store/ledger/audit-ledger.js";
import { type ChainService, type ChainWallet, startChainService } from "../harness/chain/chain-service.js";
import { closeNodes, devnetTokens, newAddress, openNode } from "../harness/chain/devnet.js";
import {
  createMortalPorts,
  type Death,
  type MortalPorts,
  type NamedStep,
} from "../harness/chain/mortal-ports.js";
import { eventually } from "../harness/eventually.js";

/** `npm run test:long -- chain` sets it: how often every step is killed. */
const rounds = Number(process.env["BURSAR_CHAIN_ROUNDS"] ?? 1);

/** Where a payment can be interrupted. */
const steps: readonly NamedStep[] = [
  ...(["heads", "estimate", "market", "assign", "sign", "storeAttempts", "send", "block"] as const),
  ...(["includePayments", "settle", "putDeposits", "balances"] as const),
];
const deaths: readonly Death[] = steps.flatMap((step) =>
  (["before", "after"] as const).map((when) => ({ step, when })),
);

const network: ChainNetwork = {
  ...{ network: "eip155:31337", chainId: 31_337, rpcUrls: [], finality: { tag: "finalized" } },
  ...{
    feeCap: 500n * 10n ** 9n,
    feeMax: 10n ** 17n,
    minimumTip: 10n ** 9n,
    inFlightMax: 16,
    hasDataFee: false,
    hasPool: true,
  },
  ...{ coin: "ETH", tokens: devnetTokens, depositMinimum: new Map() },
};
const assets = createAssetRegistry(
  ["ETH", ...devnetTokens.map(({ asset }) => asset)].map((code) => ({
    ...{ code, caip19: null, decimals: 6, network: network.network, minimum: 1n, maximum: 10n ** 40n },
  })),
);
const leaseMs = 400;
const coins = 10n ** 20n;

describe("a driver on the development chain that is killed at every step", () => {
  let devnet: SpawnedDevnet;
  let signer: SpawnedSigner;
  let service: ChainService;
  let wallet: ChainWallet;
  let ports: MortalPorts | undefined;
  const outside = newAddress();
  let signers = 0;
  beforeAll(async () => {
    devnet = await spawnDevnet(["--block-time-ms", "60", "--safe-depth", "1", "--final-depth", "3"]);
    signer = await spawnSigner();
    const client = createSignerClient({ socketPath: signer.socketPath });
    service = await startChainService({
      network,
      assets,
      node: openNode(devnet),
      signer: client,
      verifySigned,
    });
    wallet = await service.createWallet(await service.createTenant());
    ports = start(undefined);
    await eventually(
      () => service.store.readPosition(network.network),
      (position) => position !== undefined,
    );
    await fund("ETH", coins);
    await fund("USDC", 10n ** 12n);
  }, 120_000);
  afterAll(async () => {
    ports?.die();
    await service.stop();
    await closeNodes();
    await signer.stop();
    await devnet.stop();
  });

  function start(death: Death | undefined): MortalPorts {
    const client = createSignerClient({ socketPath: signer.socketPath });
    const mortal = createMortalPorts({ node: service.node, signer: client, store: service.store }, death);
    const { node, store, timers } = mortal;
    service.startDriver({ node, signer: mortal.signer, store, timers, leaseMs });
    return mortal;
  }

  async function fund(asset: "ETH" | "USDC", amount: bigint): Promise<void> {
    const before = await service.booked(wallet, asset);
    await devnet.control("devnet_fund", { address: wallet.address, amount: amount.toString(), asset });
    await eventually(
      () => service.booked(wallet, asset),
      (booked) => booked === before + amount,
    );
  }

  const completed = (id: string) =>
    eventually(
      () => service.read(id),
      ({ state }) => state === "completed" || state === "failed",
    );
  const read = async (method: string, params: readonly unknown[]) =>
    BigInt((await devnet.request(method, [...params])) as string);

  /** Pays while the driver dies at a step, and goes on with another. */
  async function payThrough(death: Death, paid: bigint): Promise<string[]> {
    ports?.die();
    ports = start(death);
    const current = ports;
    const ids = [
      await service.pay(wallet, outside, "ETH", paid),
      await service.pay(wallet, outside, "USDC", paid),
    ];
    if (death.step === "putDeposits")
      await devnet.control("devnet_fund", { address: wallet.address, amount: "5", asset: "ETH" });
    await eventually(current.isDead, (isDead) => isDead);
    ports = start(undefined);
    return ids;
  }

  it(
    "pays everything once, leaves no gap, and its books equal the chain to the wei",
    async () => {
      let sum = 0n;
      for (let round = 0; round < rounds; round++)
        for (const [index, death] of deaths.entries()) {
          const paid = BigInt(index + 1);
          const ids = await payThrough(death, paid);
          if (index % 5 === 1)
            await devnet
              .control("devnet_reorganise", { depth: 1, transactions: "return" })
              .catch(() => undefined);
          if (index % 7 === 3) await restartSigner();
          if (index % 7 === 5) await cutDatabase();
          for (const id of ids)
            expect([death, await completed(id)]).toMatchObject([death, { state: "completed" }]);
          sum += paid;
        }
      await expectEqualToChain(sum);
    },
    600_000 * rounds,
  );

  async function restartSigner(): Promise<void> {
    await signer.kill();
    signers += 1;
    const { folder, keyFile } = signer;
    const socketPath = `${signer.socketPath.replace(/\d*$/, "")}${signers}`;
    signer = await spawnSigner({ folder, keyFile, socketPath });
    ports?.die();
    ports = start(undefined);
  }

  const cutDatabase = () =>
    service.database
      .run(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
      )
      .catch(() => undefined);

  async function expectEqualToChain(sum: bigint): Promise<void> {
    const balanceOf = (address: string, block: string) => read("eth_getBalance", [address, block]);
    const tokensOf = (address: string, block: string) =>
      read("eth_call", [
        { to: contracts.USDC.address, data: `0x70a08231${address.slice(2).padStart(64, "0")}` },
        block,
      ]);
    expect(await balanceOf(outside, "latest")).toBe(sum);
    expect(await tokensOf(outside, "latest")).toBe(sum);
    const nonce = await read("eth_getTransactionCount", [wallet.address, "latest"]);
    expect(nonce).toBe(BigInt(rounds * deaths.length * 2));
    const final = Number(
      ((await devnet.request("eth_getBlockByNumber", ["finalized", false])) as { number: string }).number,
    );
    await eventually(
      () => service.store.readPosition(network.network),
      (position) => position?.settledNumber === final,
    );
    expect(await service.booked(wallet, "ETH")).toBe(await balanceOf(wallet.address, "finalized"));
    expect(await service.booked(wallet, "USDC")).toBe(await tokensOf(wallet.address, "finalized"));
    expect(await service.halts()).toEqual([]);
    for (const { what, violations } of await auditLedger(service.database))
      expect([what, violations]).toEqual([what, []]);
  }
});
