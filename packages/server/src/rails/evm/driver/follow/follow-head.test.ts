import { expect, it } from "vitest";
import type { ChainBlock } from "../../../../app/chain/chain-node.js";
import type { FollowContext, FollowedChain } from "../driver-context.js";
import { createBranchLinks } from "./branch-links.js";
import { aheadMax, followHead } from "./follow-head.js";

const headerOf = (number: number, name = "") => ({
  ...{ number, hash: `0x${name}${number}`, parentHash: `0x${name}${number - 1}`, timeMs: 0, baseFee: 1n },
});
const blockOf = (number: number): ChainBlock => ({ ...headerOf(number), transfers: [], outcomes: [] });

/** A chain that two nodes have, and a node that claims blocks which it gives only after a long time, or not at all. */
function openChain(newest: number, claimedBy: number, slowMs: number) {
  const state = { nowMs: 0, newest };
  const monotonicMs = () => state.nowMs;
  const chain = {
    ...{
      tail: [headerOf(100)],
      aheadInTime: aheadMax,
      inheritedTo: 100,
      confirmedFaults: new Set(),
      links: createBranchLinks(monotonicMs),
    },
    keepLease: async () => undefined,
  } as unknown as FollowedChain;
  const node = {
    block: async (hash: string, _: unknown, number: number) => {
      if (hash === `0x${number}` && number <= state.newest) return blockOf(number);
      state.nowMs += slowMs;
      return undefined;
    },
    headers: async (numbers: readonly number[]) =>
      numbers.filter((number) => number <= state.newest).map((number) => headerOf(number)),
    headersAt: async (number: number) => [
      ...(number <= state.newest ? [headerOf(number)] : []),
      headerOf(number, "claimed"),
    ],
    misnamedParents: async () => [],
    confirmLater: () => undefined,
  };
  const context = {
    ...{ node, monotonicMs, network: { tokens: [], coin: "ETH" }, isUnavailable: () => false },
    store: {
      unitOfWork: async (_: unknown, work: (unit: unknown) => unknown) =>
        work({ appendBlocks: () => undefined }),
    },
    recorder: { onChanged: () => undefined },
  } as unknown as FollowContext;
  /** Returns the number of the last block that was followed. */
  const step = async () => {
    const latest = headerOf(state.newest + claimedBy, "claimed");
    await followHead(context, chain, latest, { final: 100, endsMs: state.nowMs + 15_000 });
    return chain.tail.at(-1)?.number;
  };
  return { state, step };
}

it.each([1, 50, 1000])(
  "blocks are followed although a node claims a head %i blocks ahead and takes long to say more of it",
  async (claimedBy) => {
    for (const slowMs of [2000, 10_000, 45_000]) {
      const { state, step } = openChain(103, claimedBy, slowMs);
      expect(await step()).toBeGreaterThan(100);
      for (let steps = 0; steps < 6; steps++) await step();
      expect(await step()).toBe(103);
      for (let blocks = 0; blocks < 20; blocks++) {
        state.newest += 1;
        await step();
      }
      expect(await step()).toBeGreaterThan(121);
    }
  },
);

it("no step takes much longer for it", async () => {
  const { state, step } = openChain(103, 1000, 2000);
  for (let steps = 0; steps < 10; steps++) {
    const begunMs = state.nowMs;
    await step();
    expect(state.nowMs - begunMs).toBeLessThanOrEqual(20_000);
  }
});
