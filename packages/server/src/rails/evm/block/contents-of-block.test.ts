import { describe, expect, it } from "vitest";
import { modelChainNetwork } from "../../../../test/harness/chain/model-network.js";
import type { ChainBlock } from "../../../app/chain/chain-node.js";
import { depositsOfBlock } from "./contents-of-block.js";

const usdc = "USDC.SIM";
const wallets = new Map(["0xa", "0xb"].map((to) => [to, { tenantId: "t", walletId: to }]));

function blockOf(received: readonly { to: string; amount: bigint }[]): ChainBlock {
  const transfers = received.map(({ to, amount }, index) => ({
    ...{ hash: "0x1", ordinal: index + 1, asset: usdc, from: "0xe", to, amount },
  }));
  return { number: 1, hash: "0xb", parentHash: "0x0", transfers, outcomes: [] } as unknown as ChainBlock;
}

const received = (transfers: readonly { to: string; amount: bigint }[]) =>
  depositsOfBlock(modelChainNetwork, blockOf(transfers), [], wallets);
const many = (count: number, amount: bigint) => Array.from({ length: count }, () => ({ to: "0xa", amount }));

describe("what wallets have received in a block", () => {
  it("is one sum for all that is below the minimum, with the ordinal of the last of it", () => {
    const deposits = received([...many(4000, 1n), { to: "0xb", amount: 7n }]);
    expect(deposits).toMatchObject([
      { to: "0xa", ordinal: 4000, amount: 4000n, isGathered: true },
      { to: "0xb", ordinal: 4001, amount: 7n, isGathered: true },
    ]);
  });

  it("is at most 100 deposits of one asset to one wallet, the largest first, and a sum of the others", () => {
    const deposits = received([
      ...many(4000, 100n),
      { to: "0xa", amount: 5000n },
      { to: "0xb", amount: 100n },
    ]);
    expect(deposits).toHaveLength(102);
    expect(deposits.filter(({ isGathered }) => isGathered)).toMatchObject([
      { ordinal: 4000, amount: 390_100n },
    ]);
    const single = deposits.filter(({ isGathered }) => !isGathered);
    expect(single.slice(-2)).toMatchObject([{ amount: 5000n }, { to: "0xb", amount: 100n }]);
    expect(deposits.reduce((sum, { amount }) => sum + amount, 0n)).toBe(405_100n);
  });

  it("is never more than a token can have, whatever its logs state", () => {
    const most = 2n ** 256n - 1n;
    const deposits = received(many(120, most));
    expect(deposits).toHaveLength(101);
    expect(deposits.every(({ amount }) => amount === most)).toBe(true);
  });
});
