import { expect, it } from "vitest";
import type { FollowContext, FollowedChain } from "../driver-context.js";
import { followAndSettle } from "./follow-and-settle.js";

const headerOf = (number: number) => ({
  ...{ number, hash: `0x${number}`, parentHash: `0x${number - 1}`, timeMs: 0, baseFee: 1n },
});

it.each([
  [102, 102],
  [undefined, 105],
  [110, 105],
])(
  "the pace of payments follows what two nodes have: %s of 105 blocks that were followed",
  async (sharedNumber, headNumber) => {
    const tail = [100, 101, 102, 103, 104, 105].map(headerOf);
    const chain = { tail, headNumber: 100 } as unknown as FollowedChain;
    const context = { monotonicMs: () => 0 } as FollowContext;
    const heads = { latest: headerOf(105), final: headerOf(100) };
    await followAndSettle(context, chain, async () =>
      sharedNumber === undefined ? heads : { ...heads, sharedNumber },
    );
    expect(chain.headNumber).toBe(headNumber);
  },
);
