import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { describeAct, nilTenantId } from "../../../src/app/audit/audit-entry.js";
import type { ChainNode } from "../../../src/app/chain/chain-node.js";
import type { ChainStore } from "../../../src/app/chain/chain-store.js";
import type { Signer } from "../../../src/app/chain/signer.js";
import { auditChain } from "../../../src/rails/evm/audit-chain.js";
import { listNetworks, resumeNetwork, resumeWallet } from "../../../src/store/chain/resume-chain.js";
import { readSettledBooks } from "../../../src/store/chain/settled-books.js";
import { sql } from "../../../src/store/core/sql.js";
import { type ChainService, type ChainWallet, startChainService } from "../../harness/chain/chain-service.js";
import { balanceOf, modelCoin } from "../../harness/chain/model-chain.js";
import { modelChainNetwork } from "../../harness/chain/model-network.js";
import { createModelSigner } from "../../harness/chain/model-signer.js";
import { eventually } from "../../harness/eventually.js";

const network = "eip155:31337";
const outside = `0x${"e".repeat(40)}`;

describe("what the driver halts", () => {
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
  const operator = (action: string, object: string, tenant = nilTenantId) =>
    describeAct({ by: "operator", tenantId: tenant }, action, object, new Date());
  async function fund(wallets: readonly ChainWallet[]): Promise<void> {
    for (const { address } of wallets)
      service.chain.pay([{ asset: modelCoin, from: outside, to: address, amount: 1_000_000_000n }]);
    mine(5);
    for (const wallet of wallets)
      await eventually(
        () => service.booked(wallet, modelCoin),
        (booked) => booked === 1_000_000_000n,
      );
  }
  const registered = () =>
    eventually(
      () => service.store.readPosition(network),
      (position) => position !== undefined,
    );

  it("does not hold up other wallets: those that the signer refuses are left out of every page", async () => {
    const honest = createModelSigner(async () => undefined);
    const refused = new Set<string>();
    const signer: Pick<Signer, "sign"> = {
      sign: (intents) =>
        Promise.all(
          intents.map(async (intent) => {
            const [signed] = await honest.sign([intent]);
            if (signed === undefined) throw new Error("the signer has no answer");
            return refused.has(intent.walletId)
              ? ({ refused: "NONCE_USED", reason: "another payment has it" } as const)
              : signed;
          }),
        ),
    };
    service.startDriver({ signer });
    await registered();
    const wallets: ChainWallet[] = [];
    for (let count = 0; count < 18; count++) wallets.push(await service.createWallet(tenantId));
    const good = wallets.at(-1) as ChainWallet;
    for (const { walletId } of wallets.slice(0, -1)) refused.add(walletId);
    await fund(wallets);
    // 17 wallets with 4 payments each are more than one page of the signer.
    for (const wallet of wallets.slice(0, -1))
      for (let count = 0; count < 4; count++) await service.pay(wallet, outside, modelCoin, 1n);
    const id = await service.pay(good, outside, modelCoin, 5n);
    await eventually(
      () => service.halts(),
      (halts) => halts.length === 17,
    );
    await eventually(
      async () => service.chain.pool().length,
      (count) => count === 1,
    );
    mine(5);
    await eventually(
      () => service.read(id),
      ({ state }) => state === "completed",
    );
    expect(balanceOf(service.chain.head().balances, outside, modelCoin)).toBe(5n);
  });

  it("is a wallet whose books are above the chain, and the audit names it and what differs", async () => {
    const [wallet, other] = [await service.createWallet(tenantId), await service.createWallet(tenantId)];
    const driver = service.startDriver();
    await registered();
    await fund([wallet, other]);
    const audit = () =>
      auditChain(modelChainNetwork, service.node, {
        readPage: (after, limit) => readSettledBooks(service.database, network, after, limit),
        listUnowned: async () => [],
      });
    expect(await audit()).toEqual({ wallets: 2, differences: [] });
    service.chain.credit(wallet.address, modelCoin, -7n);
    service.chain.pay([{ asset: modelCoin, from: outside, to: wallet.address, amount: 5n }]);
    mine(5);
    await eventually(
      () => service.halts(),
      (halts) => halts.length === 1,
    );
    expect(await service.halts()).toMatchObject([{ action: "wallet.halt", code: "BALANCE_BELOW_BOOKS" }]);
    const { differences } = await audit();
    expect(differences).toHaveLength(1);
    expect(differences[0]).toMatchObject({ wallet: { walletId: wallet.walletId } });
    expect(differences[0]?.difference).toContain("7 less than its books");
    await driver.stop();
    await service.database.query(sql`DELETE FROM chain_blocks WHERE network = ${network}`);
    await expect(audit()).rejects.toThrow("cannot be compared yet");
  });

  it("is a wallet whose chain is ahead of restored books, before a nonce is given that was used", async () => {
    const wallet = await service.createWallet(tenantId);
    // The wallet was compared before the backup, and its turn comes again only much later.
    let isCompared = true;
    const listToCompare: ChainStore["listToCompare"] = async (...page) =>
      isCompared ? await service.store.listToCompare(...page) : [];
    service.startDriver({ store: { ...service.store, listToCompare } });
    await registered();
    await fund([wallet]);
    isCompared = false;
    service.chain.useNonce(wallet.address);
    service.chain.useNonce(wallet.address);
    mine(5);
    const ids = [
      await service.pay(wallet, outside, modelCoin, 10n),
      await service.pay(wallet, outside, modelCoin, 11n),
      await service.pay(wallet, outside, modelCoin, 12n),
    ];
    await eventually(
      () => service.halts(),
      (halts) => halts.length === 1,
    );
    expect(await service.halts()).toMatchObject([{ action: "wallet.halt", code: "NONCE_USED_ELSEWHERE" }]);
    for (const id of ids) expect((await service.read(id)).states).toEqual(["processing"]);
    expect(service.chain.pool()).toEqual([]);
  });

  it("goes on with a wallet that was resumed", async () => {
    const wallet = await service.createWallet(tenantId);
    service.startDriver();
    await registered();
    await fund([wallet]);
    await service.database.query(sql`
      UPDATE chain_wallets SET halted_reason = 'test', halted_at = now() WHERE wallet_id = ${wallet.walletId}
    `);
    const id = await service.pay(wallet, outside, modelCoin, 5n);
    mine(3);
    expect((await service.read(id)).state).toBe("processing");
    const resume = () =>
      resumeWallet(service.keyed, wallet, operator("wallet.resume", wallet.walletId, tenantId));
    expect(await resume()).toBe("resumed");
    expect(await resume()).toBe("unchanged");
    await eventually(
      () => service.read(id),
      ({ state }) => state === "broadcast",
    );
  });

  it("is a network whose nodes disagree, and one that was reorganised below finality, until it is resumed", async () => {
    let dispute: string | undefined;
    const node: ChainNode = {
      ...service.node,
      heads: async () => (dispute === undefined ? await service.node.heads() : { halt: dispute }),
    };
    const wallet = await service.createWallet(tenantId);
    service.startDriver({ node });
    await registered();
    await fund([wallet]);
    dispute = "Two nodes have different final blocks 7.";
    const halted = () =>
      eventually(
        () => listNetworks(service.database),
        ([one]) => one?.haltedReason !== null,
      );
    expect(await halted()).toMatchObject([{ network, haltedReason: dispute }]);
    expect(await service.halts()).toMatchObject([{ action: "network.halt", code: "NETWORK_DISPUTED" }]);
    dispute = undefined;
    const resume = () => resumeNetwork(service.keyed, network, operator("network.resume", network));
    expect(await resume()).toBe("resumed");
    const id = await service.pay(wallet, outside, modelCoin, 5n);
    await eventually(
      async () => service.chain.pool().length,
      (count) => count === 1,
    );
    mine(1);
    await eventually(
      () => service.read(id),
      ({ state }) => state === "confirming",
    );
    mine(4);
    await eventually(
      () => service.read(id),
      ({ state }) => state === "completed",
    );
    service.chain.rewrite(4);
    mine(8);
    expect((await halted())[0]?.haltedReason).toContain("was final and is no longer part of the chain");
    expect(await resume()).toBe("resumed");
    await eventually(
      () => service.store.readPosition(network),
      (position) => position?.tail.at(-1)?.hash === service.chain.head().hash,
    );
  });

  it("is a network whose first block is another one than before: nothing is sent there until it is the old one", async () => {
    const wallet = await service.createWallet(tenantId);
    service.startDriver();
    await registered();
    await fund([wallet]);
    await service.stopDrivers();
    const id = await service.pay(wallet, outside, modelCoin, 5n);
    let isReplaced = true;
    const seen = <Block extends { number: number; hash: string }>(block: Block): Block =>
      isReplaced && block.number === 0 ? { ...block, hash: "0xother" } : block;
    const node: ChainNode = {
      ...service.node,
      header: async (number) => {
        const found = await service.node.header(number);
        return found && seen(found);
      },
      finalHeaders: async (numbers) =>
        (await service.node.finalHeaders(numbers)).map((one) => one && seen(one)),
    };
    service.startDriver({ node });
    const [halted] = await eventually(
      () => listNetworks(service.database),
      ([one]) => one?.haltedReason !== null,
    );
    expect(halted?.haltedReason).toContain("Its first block is 0xother, and it was 0xgenesis before");
    expect(await service.halts()).toMatchObject([{ action: "network.halt", code: "CHAIN_REPLACED" }]);
    expect((await service.read(id)).states).toEqual(["processing"]);
    expect(service.chain.pool()).toEqual([]);
    isReplaced = false;
    const entry = operator("network.resume", network);
    expect(await resumeNetwork(service.keyed, network, entry)).toBe("resumed");
    await eventually(
      () => service.read(id),
      ({ state }) => state === "broadcast",
    );
  });

  it("is resumed in several SQL transactions if much was in blocks that are not settled", async () => {
    const wallets: ChainWallet[] = [];
    for (let count = 0; count < 10; count++) wallets.push(await service.createWallet(tenantId));
    const sizes: number[] = [];
    const unitOfWork: ChainStore["unitOfWork"] = (position, work) =>
      service.store.unitOfWork(position, (unit) =>
        work({
          ...unit,
          putDeposits: (deposits) => {
            if (deposits.some(({ block }) => block === null)) sizes.push(deposits.length);
            unit.putDeposits(deposits);
          },
        }),
      );
    let dispute: string | undefined;
    const node: ChainNode = {
      ...service.node,
      heads: async () => (dispute === undefined ? await service.node.heads() : { halt: dispute }),
    };
    service.startDriver({ node, store: { ...service.store, unitOfWork } });
    await registered();
    mine(1);
    // Two blocks, because what is more than a thousand in one is gathered.
    for (let block = 0; block < 2; block++) {
      const deposit = { asset: "USDC.SIM", from: outside, amount: 100n };
      service.chain.pay(
        wallets.flatMap(({ address }) => Array.from({ length: 75 }, () => ({ ...deposit, to: address }))),
      );
      mine(1);
    }
    const seen = () =>
      service.database.query<{ count: string }>(
        sql`SELECT count(*) FROM chain_deposits WHERE state = 'seen' AND block_number IS NOT NULL`,
      );
    await eventually(seen, ([row]) => row?.count === "1500");
    dispute = "Two nodes have different final blocks 1.";
    await eventually(
      () => listNetworks(service.database),
      ([one]) => one?.haltedReason === dispute,
    );
    dispute = undefined;
    expect(await resumeNetwork(service.keyed, network, operator("network.resume", network))).toBe("resumed");
    await eventually(
      () => service.store.readPosition(network),
      (position) => position?.tail.at(-1)?.hash === service.chain.head().hash,
    );
    expect(sizes).toEqual([1000, 500]);
    await eventually(seen, ([row]) => row?.count === "1500");
  });
});
