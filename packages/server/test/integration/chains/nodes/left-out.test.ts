import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type ChainBlock, NodeUnavailableError } from "../../../../src/app/chain/chain-node.js";
import { sql } from "../../../../src/store/core/sql.js";
import { auditLedger } from "../../../../src/store/ledger/audit-ledger.js";
import type { ChainWallet } from "../../../harness/chain/chain-service.js";
import {
  closeNodes,
  devnetTokens,
  fundedAccount,
  newAddress,
  openNode,
  sendRaw,
  signPayment,
  useDevnet,
  watchFor,
} from "../../../harness/chain/devnet.js";
import { type DrivenChain, outside, startDrivenChain } from "../../../harness/chain/driven-chain.js";
import { resultsOf, startHostileNode } from "../../../harness/chain/hostile-node.js";
import { startLyingNode } from "../../../harness/chain/lying-proxy.js";
import { balanceOf, modelCoin } from "../../../harness/chain/model-chain.js";
import { eventually } from "../../../harness/eventually.js";

const devnet = useDevnet();
afterAll(closeNodes);

describe("a payment that one node leaves out of its block", () => {
  const tokens = [{ asset: "ETH", contract: null }, ...devnetTokens];

  /** A payment that is final, and nodes of which the first has nothing of it. */
  async function openNodes(urls: readonly string[], isLastKnown = false) {
    const account = await fundedAccount(devnet());
    const raw = await signPayment(account, { nonce: 0, to: newAddress(), value: 7n });
    const hash = await sendRaw(devnet(), raw);
    const [mined] = await devnet().control("devnet_mine", { blocks: 5 });
    const liar = await startLyingNode(devnet(), (method, [named], result: { transactions?: unknown[] }) => {
      if (named === hash && !isLastKnown) return null;
      if (result?.transactions === undefined || method === "eth_getBlockReceipts") return result;
      if (isLastKnown && typeof result.transactions[0] === "string") return result;
      const hashOf = (one: unknown) => (typeof one === "string" ? one : (one as { hash: string }).hash);
      return { ...result, transactions: result.transactions.filter((one) => hashOf(one) !== hash) };
    });
    const node = openNode(devnet(), { rpcUrls: [liar.url, ...urls] });
    const heads = await node.heads();
    if ("halt" in heads) throw new Error(heads.halt);
    const watch = watchFor([], [hash]);
    const number = mined?.number ?? 0;
    expect((await node.finalBlocks(number, number, watch))[0]?.outcomes).toEqual([]);
    const renewed = { count: 0 };
    const keepLease = async () => {
      renewed.count += 1;
    };
    const find = () => node.findIncluded([hash, `0x${"7".repeat(64)}`], heads.final, tokens, keepLease);
    const outcomesAgain = async () => (await node.finalBlocks(number, number, watch))[0]?.outcomes;
    const misreads = async () => {
      const again = await node.heads();
      return "halt" in again ? again.halt : again.misreads;
    };
    return { node, hash, number, find, outcomesAgain, misreads, renewed, final: heads.final };
  }

  it.each([
    ["denies that it exists", false],
    ["leaves it out of the block alone", true],
  ])("is found in that of two others, and another node is asked first: it %s", async (_what, isLastKnown) => {
    const { url, secondUrl } = devnet();
    const { node, hash, number, find, outcomesAgain, misreads, renewed } = await openNodes(
      [url, secondUrl],
      isLastKnown,
    );
    const found = await find();
    const transfers = [{ asset: "ETH", amount: 7n }];
    expect(found).toMatchObject([{ block: { number }, outcome: { hash, success: true, transfers } }]);
    expect(node.readOdd()).toEqual([!isLastKnown, false, false]);
    expect(renewed.count).toBe(6);
    expect(await outcomesAgain()).toMatchObject([{ hash }]);
    // What was read of blocks that are not settled is read again.
    expect(await misreads()).toBe(1);
  });

  it("is not found if only one other has it, or in a later block than the final one", async () => {
    const { url, secondUrl } = devnet();
    const ofTwo = await openNodes([url]);
    expect(await ofTwo.find()).toEqual([]);
    expect(ofTwo.node.readOdd()).toEqual([false, false]);
    expect(await ofTwo.misreads()).toBe(0);
    const { node, hash, number, final } = await openNodes([url, secondUrl]);
    const before = { ...final, number: number - 1 };
    expect(await node.findIncluded([hash], before, tokens, async () => undefined)).toEqual([]);
  });

  it.each([
    ["fails", 503, {}],
    ["answers an error", 200, { error: { code: -32_603, message: "internal error" } }],
  ])("is neither found nor not found while one of the others %s", async (_what, status, fault) => {
    let isFailing = true;
    const failing = await startHostileNode((calls, reply) => {
      if (isFailing && calls.some(({ method }) => method === "eth_getTransactionReceipt"))
        return reply(
          calls.map(({ id }) => ({ id, ...fault })),
          status,
        );
      const results = calls.map(({ method, params }) => devnet().request(method, params));
      void Promise.all(results).then((given) =>
        reply(resultsOf(calls, ({ id }) => given[id - (calls[0]?.id ?? 0)])),
      );
    });
    const { hash, find } = await openNodes([devnet().url, failing.url]);
    await expect(find()).rejects.toThrow(/^Too few nodes say in which block .* is: Node 3 of eip155:31337: /);
    isFailing = false;
    const found = await eventually(
      () => find().catch(() => []),
      ({ length }) => length > 0,
    );
    expect(found).toMatchObject([{ outcome: { hash } }]);
  });
});

describe("a wallet whose payment one of three nodes has left out", () => {
  let driven: DrivenChain;
  let wallet: ChainWallet;
  beforeAll(async () => {
    driven = await startDrivenChain();
  });
  beforeEach(async () => {
    driven.ports.node = driven.honest.node;
    wallet = await driven.createFunded();
  });
  afterAll(() => driven.stop());

  /** The blocks of one lack our transactions, and most nodes have them. Those from outside have short hashes in the model. */
  function omitOurs(): void {
    const { node } = driven.honest;
    const isLeft = ({ hash }: { hash: string }) => hash.length !== 66;
    const omit = (block: ChainBlock) => ({
      ...block,
      transfers: block.transfers.filter(isLeft),
      outcomes: block.outcomes.filter(isLeft),
    });
    driven.ports.node = {
      ...node,
      block: async (...given) => {
        const block = await node.block(...given);
        return block === undefined ? undefined : omit(block);
      },
      finalBlocks: async (...given) => (await node.finalBlocks(...given)).map(omit),
    };
  }
  const touch = async (touched = wallet) => {
    driven.chain.pay([{ asset: modelCoin, from: outside, to: touched.address, amount: 1n }]);
    await driven.settle();
  };
  const haltOf = async () => {
    const [row] = await driven.database.query<{ reason: string | null }>(
      sql`SELECT halted_reason AS reason FROM chain_wallets WHERE wallet_id = ${wallet.walletId}`,
    );
    return row;
  };
  const completed = async (id: string) =>
    await eventually(
      async () => {
        await touch();
        return await driven.read(id);
      },
      ({ state }) => state === "completed",
    );

  it("goes on, and the payment is completed", async () => {
    omitOurs();
    const paid = [
      await driven.pay(wallet, outside, modelCoin, 10n),
      await driven.pay(wallet, outside, modelCoin, 20n),
    ];
    await driven.inPool(2);
    await driven.settle();
    for (const id of paid) expect(await completed(id)).toMatchObject({ failure: null });
    const next = await driven.pay(wallet, outside, modelCoin, 30n);
    await driven.inPool(1);
    await driven.settle();
    expect(await completed(next)).toMatchObject({ failure: null });
    expect(await haltOf()).toMatchObject({ reason: null });
    expect(await driven.booked(wallet, modelCoin)).toBe(
      balanceOf(driven.chain.final().balances, wallet.address, modelCoin),
    );
    for (const { what, violations } of await auditLedger(driven.database))
      expect([what, violations]).toEqual([what, []]);
  });

  it("goes on, and is compared soon, if the nodes cannot say it at first", async () => {
    omitOurs();
    const { findIncluded } = driven.ports.node;
    let [asked, isSilent] = [0, true];
    driven.ports.node = {
      ...driven.ports.node,
      findIncluded: async (...given) => {
        asked += 1;
        if (isSilent) throw new NodeUnavailableError("too few nodes say it");
        return await findIncluded(...given);
      },
    };
    const paid = await driven.pay(wallet, outside, modelCoin, 10n);
    await driven.inPool(1);
    await driven.settle();
    await touch();
    await eventually(
      async () => asked,
      (count) => count > 0,
    );
    isSilent = false;
    // Fewer blocks than until a wallet that nothing happens to is compared again.
    for (let times = 0; times < 3; times++) await driven.settle();
    expect(await driven.until(paid, "completed")).toMatchObject({ failure: null });
    expect(await haltOf()).toMatchObject({ reason: null });
  });

  it("credits an own wallet that it has paid once", async () => {
    const other = await driven.createFunded(0n);
    omitOurs();
    const paid = await driven.pay(wallet, other, modelCoin, 10n);
    await driven.inPool(1);
    await driven.settle();
    await touch(other);
    await completed(paid);
    await touch(other);
    expect(await driven.booked(other, modelCoin)).toBe(12n);
    expect(await haltOf()).toMatchObject({ reason: null });
  });

  it("halts if another transaction has used a nonce beside it, and the payment is completed", async () => {
    omitOurs();
    const paid = await driven.pay(wallet, outside, modelCoin, 10n);
    await driven.inPool(1);
    await driven.settle();
    driven.chain.useNonce(wallet.address, "authorisation");
    await touch();
    expect((await completed(paid)).failure).toBe(null);
    await eventually(haltOf, (halt) => halt?.reason?.includes("2 transactions of") === true);
  });
});
