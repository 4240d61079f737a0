import { showId } from "@bursar/protocol";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ChainBlock } from "../../../../src/app/chain/chain-node.js";
import { sql } from "../../../../src/store/core/sql.js";
import type { ChainWallet } from "../../../harness/chain/chain-service.js";
import { type DrivenChain, outside, startDrivenChain } from "../../../harness/chain/driven-chain.js";
import { balanceOf, modelCoin } from "../../../harness/chain/model-chain.js";
import { eventually } from "../../../harness/eventually.js";

const token = "USDC.SIM";
const most = 2n ** 256n - 1n;

describe("what one of several nodes says of a new block", () => {
  let driven: DrivenChain;
  let first: ChainWallet;
  let second: ChainWallet;
  /** What the node asked first adds to blocks that are not final. */
  let lie: ((block: ChainBlock) => ChainBlock) | undefined;
  let misreads: number;
  beforeEach(async () => {
    driven = await startDrivenChain();
    [first, second] = [await driven.createFunded(), await driven.createFunded()];
    [lie, misreads] = [undefined, 0];
    const { node } = driven.honest;
    driven.ports.node = {
      ...node,
      isAlone: false,
      block: async (...given) => {
        const block = await node.block(...given);
        return block === undefined ? undefined : (lie?.(block) ?? block);
      },
      heads: async (...given) => ({ ...(await node.heads(...given)), misreads }),
    };
  });
  afterEach(() => driven.stop());

  const followed = () =>
    eventually(
      () => driven.store.readPosition("eip155:31337"),
      (position) => position?.tail.at(-1)?.hash === driven.chain.head().hash,
    );
  /** When the block is final, the others contradict what was read of it. */
  const settleContradicted = async () => {
    lie = undefined;
    misreads += 1;
    await driven.settle();
  };
  const expectBooksEqual = async () => {
    for (const wallet of [first, second])
      expect(await driven.booked(wallet, modelCoin)).toBe(
        balanceOf(driven.chain.final().balances, wallet.address, modelCoin),
      );
  };
  const expectReadAgain = () =>
    expect([...new Set(driven.errors.map(String))]).toEqual([
      expect.stringContaining("has something else than was read from it before"),
    ]);

  it.each([
    ["each", 12],
    ["both together", 6],
  ])("halts no wallet, even if %s have received more than there can be", async (_who, times) => {
    lie = (block) => ({
      ...block,
      transfers: [
        ...block.transfers,
        ...[first, second].flatMap(({ address }) =>
          Array.from({ length: times }, (_, index) => ({
            ...{ hash: `0xlie${address}`, ordinal: index + 1, asset: token, amount: most },
            ...{ from: outside, to: address },
          })),
        ),
      ],
    });
    const id = await driven.pay(first, second, modelCoin, 1000n);
    await driven.inPool(1);
    driven.mine(2);
    await followed();
    await settleContradicted();
    expect((await driven.read(id)).state).toBe("completed");
    expect(await driven.halts()).toEqual([]);
    await expectBooksEqual();
    expectReadAgain();
  });

  it("halts no wallet, even if it has two attempts of one payment", async () => {
    const id = await driven.pay(first, second, modelCoin, 1000n);
    await driven.inPool(1);
    await driven.database.query(
      sql`UPDATE chain_payments SET speed_up_requested = true WHERE transaction_id = ${id}`,
    );
    driven.wake();
    const attempts = await eventually(
      () =>
        driven.database.query<{ hash: string }>(
          sql`SELECT hash FROM chain_attempts WHERE transaction_id = ${id}`,
        ),
      ({ length }) => length === 2,
    );
    lie = (block) => ({
      ...block,
      outcomes: attempts.map(({ hash }) => ({ hash, success: true, fee: 1n, transfers: [] })),
    });
    driven.mine();
    await followed();
    await settleContradicted();
    expect((await driven.read(id)).state).toBe("completed");
    expect(await driven.halts()).toEqual([]);
    await expectBooksEqual();
    expectReadAgain();
  });

  it("halts its wallet when it is final, if a payment of it cannot be processed", async () => {
    const bad = await driven.pay(first, outside, modelCoin, 1n);
    const good = await driven.pay(second, outside, modelCoin, 2n);
    await driven.inPool(2);
    await driven.database.query(sql`UPDATE transactions SET asset = 'GONE' WHERE id = ${bad}`);
    driven.mine();
    await followed();
    expect(await driven.halts()).toEqual([]);
    await driven.settle();
    await driven.until(good, "completed");
    expect(await driven.halts()).toMatchObject([
      { code: "PAYMENT_AT_FAULT", object: showId("wlt", first.walletId) },
    ]);
    expect(driven.errors).toEqual([]);
  });

  it("halts its wallet when it is final, if a token states more than there can be", async () => {
    driven.chain.pay(
      Array.from({ length: 12 }, () => ({ asset: token, from: outside, to: first.address, amount: most })),
    );
    const good = await driven.pay(second, outside, modelCoin, 2n);
    await driven.inPool(2);
    driven.mine();
    await followed();
    expect(await driven.halts()).toEqual([]);
    await driven.settle();
    await driven.until(good, "completed");
    expect(await driven.halts()).toMatchObject([
      { code: "PAYMENT_AT_FAULT", object: showId("wlt", first.walletId) },
    ]);
    expectReadAgain();
  });

  it("settles final blocks, also while each new one has something that cannot be written", async () => {
    const impossible = () =>
      driven.chain.pay(
        Array.from({ length: 12 }, () => ({ asset: token, from: outside, to: first.address, amount: most })),
      );
    const good = await driven.pay(second, outside, modelCoin, 2n);
    await driven.inPool(1);
    for (let block = 0; block < 12; block++) {
      impossible();
      driven.mine();
      await followed();
    }
    await driven.until(good, "completed");
    expect(await driven.halts()).toMatchObject([
      { code: "PAYMENT_AT_FAULT", object: showId("wlt", first.walletId) },
    ]);
  });
});
