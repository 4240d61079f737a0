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
    const open = (number: number) => poolFor("tenant", origin(number));
    const pools = await Promise.all(Array.from({ length: 512 }, (_, number) => open(number)));
    expect(await open(0)).toBe(pools[0]);
    await open(512);
    expect(pools.flatMap((pool, number) => (pool.closed ? [number] : []))).toEqual([1]);
    expect(await open(1)).not.toBe(pools[1]);
    await close();
    expect(pools.every((pool) => pool.closed || pool.destroyed)).toBe(true);
  });
});
