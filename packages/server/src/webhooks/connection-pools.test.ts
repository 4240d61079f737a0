import { describe, expect, it } from "vitest";
import { createConnectionPools } from "./connection-pools.js";

describe("the pools of connections", () => {
  const origin = (number: number) => `https://receiver-${number}.example`;

  it("are kept for 512 origins, and the one that was used longest ago makes room", async () => {
    const { poolFor, close } = createConnectionPools({
      lookup: () => undefined,
      ca: undefined,
      connectTimeoutMs: 1000,
    });
    const pools = Array.from({ length: 512 }, (_, number) => poolFor("tenant", origin(number)));
    expect(poolFor("tenant", origin(0))).toBe(pools[0]);
    poolFor("tenant", origin(512));
    expect(pools.flatMap((pool, number) => (pool.closed ? [number] : []))).toEqual([1]);
    expect(poolFor("tenant", origin(1))).not.toBe(pools[1]);
    await close();
    expect(pools.every((pool) => pool.closed || pool.destroyed)).toBe(true);
  });
});
