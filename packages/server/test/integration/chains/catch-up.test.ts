import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { BlockHeader, ChainNode } from "../../../src/app/chain/chain-node.js";
import type { ChainStore } from "../../../src/app/chain/chain-store.js";
import { type ChainService, type ChainWallet, startChainService } from "../../harness/chain/chain-service.js";
import { type ModelBlock, modelCoin } from "../../harness/chain/model-chain.js";
import { eventually } from "../../harness/eventually.js";

const network = "eip155:31337";
const outside = `0x${"e".repeat(40)}`;

describe("a driver that is far behind its chain", () => {
  let service: ChainService;
  let tenantId: string;
  beforeEach(async () => {
    service = await startChainService();
    tenantId = await service.createTenant();
  });
  afterEach(() => service.stop());

  const mine = (blocks: number) => {
    for (let block = 0; block < blocks; block++) service.chain.mine((_, isReplaced) => !isReplaced);
  };
  const pay = (to: ChainWallet, amount: bigint) =>
    service.chain.pay([{ asset: modelCoin, from: outside, to: to.address, amount }]);
  const headerOf = ({ number, hash, parentHash, baseFee }: ModelBlock): BlockHeader => ({
    ...{ number, hash, parentHash, baseFee, timeMs: 0 },
  });
  const position = () => service.store.readPosition(network);
  const registered = () => eventually(position, (one) => one !== undefined);
  const followed = (number: number) => eventually(position, (one) => one?.tail.at(-1)?.number === number);
  const settled = (number: number) => eventually(position, (one) => one?.settledNumber === number);

  /** Counts the calls of a method of the node in each step; a step begins by asking for the heads. */
  function countCalls(node: ChainNode, method: "balances" | "finalBlocks" | "block") {
    const steps: number[] = [];
    const counted: ChainNode = {
      ...node,
      heads: () => {
        steps.push(0);
        return node.heads();
      },
      [method]: (...given: unknown[]) => {
        steps[steps.length - 1] = (steps.at(-1) ?? 0) + 1;
        return (node[method] as (...given: unknown[]) => unknown)(...given);
      },
    };
    return { node: counted, steps };
  }
  /** Like a rollup, whose final block is thousands of blocks behind its head. */
  const neverFinal = (): ChainNode => ({
    ...service.node,
    heads: async () => ({
      latest: headerOf(service.chain.head()),
      final: headerOf(service.chain.blocks()[0] as ModelBlock),
    }),
  });

  it("follows a head that is further away than one walk, a part in each step", async () => {
    const wallet = await service.createWallet(tenantId);
    const { node, steps } = countCalls(neverFinal(), "block");
    service.startDriver({ node });
    await registered();
    mine(700);
    pay(wallet, 500n);
    mine(300);
    await followed(1000);
    expect((await service.deposits(wallet)).map(({ state }) => state)).toEqual(["confirming"]);
    expect(Math.max(...steps)).toBeLessThanOrEqual(128);
  });

  it("renews its lease within a step that reads many blocks", async () => {
    let renewals = 0;
    const leases: ChainStore["leases"] = {
      ...service.store.leases,
      renew: (...given) => {
        renewals += 1;
        return service.store.leases.renew(...given);
      },
    };
    const node = neverFinal();
    const renewalsBefore: number[] = [];
    const slow: ChainNode = {
      ...node,
      heads: () => {
        renewalsBefore.push(renewals);
        return node.heads();
      },
      block: async (...given) => {
        await new Promise((resolve) => setTimeout(resolve, 2));
        return await node.block(...given);
      },
    };
    service.startDriver({ node: slow, leaseMs: 40, store: { ...service.store, leases } });
    await registered();
    mine(120);
    await followed(120);
    const counts = [...renewalsBefore, renewals];
    const inSteps = counts.map((count, index) => count - (counts[index - 1] ?? 0));
    expect(Math.max(...inSteps)).toBeGreaterThan(4);
  });

  it("settles final blocks between the ranges that it reads", async () => {
    const { node, steps } = countCalls(service.node, "finalBlocks");
    const settledAt: number[] = [];
    const heads = node.heads;
    node.heads = async () => {
      settledAt.push((await position())?.settledNumber ?? 0);
      return await heads();
    };
    service.startDriver({ node });
    await registered();
    mine(704);
    await settled(700);
    expect(Math.max(...steps)).toBeLessThanOrEqual(8);
    expect(settledAt).toContain(256);
    expect(settledAt).toContain(512);
  });

  it("neither stops nor raises fees because one node makes up a head", async () => {
    const wallet = await service.createWallet(tenantId);
    let madeUp = 0;
    let isHuge = false;
    const node: ChainNode = {
      ...service.node,
      heads: async () => {
        madeUp += 6;
        const number = isHuge ? Number.MAX_SAFE_INTEGER : service.chain.head().number + (madeUp % 600);
        const latest = { ...headerOf(service.chain.head()), number, hash: `0xmadeup${number}` };
        return { latest, final: headerOf(service.chain.final()) };
      },
    };
    service.startDriver({ node });
    await registered();
    pay(wallet, 1_000_000_000n);
    mine(5);
    await eventually(
      () => service.booked(wallet, modelCoin),
      (booked) => booked > 0n,
    );
    const id = await service.pay(wallet, outside, modelCoin, 10n);
    const [first] = await eventually(
      async () => service.chain.pool(),
      (pool) => pool.length === 1,
    );
    const before = madeUp;
    await eventually(
      async () => madeUp,
      (number) => number > before + 120,
    );
    expect(service.chain.pool()).toEqual([first]);
    isHuge = true;
    mine(1);
    await eventually(
      () => service.read(id),
      ({ state }) => state === "confirming",
    );
  });

  it("compares many new wallets in several steps, and not all of them in one", async () => {
    for (let count = 0; count < 200; count++) await service.createWallet(tenantId);
    const { node, steps } = countCalls(service.node, "balances");
    service.startDriver({ node });
    await eventually(
      () => service.store.listToCompare(network, { of: "touched", afterWalletId: undefined, limit: 300 }),
      (wallets) => wallets.length === 0,
    );
    expect(Math.max(...steps)).toBeLessThanOrEqual(5);
  });

  it("goes on comparing while there is nothing else to do, though no further block is settled", async () => {
    const wallets: ChainWallet[] = [];
    for (let count = 0; count < 100; count++) wallets.push(await service.createWallet(tenantId));
    service.startDriver();
    await eventually(
      () => service.store.listToCompare(network, { of: "touched", afterWalletId: undefined, limit: 300 }),
      (left) => left.length === 0,
    );
    mine(1);
    for (const { address } of wallets) service.chain.credit(address, modelCoin, 5n);
    mine(40);
    await eventually(
      async () => Promise.all(wallets.map((wallet) => service.booked(wallet, modelCoin))),
      (booked) => booked.every((amount) => amount === 5n),
    );
  });
});
