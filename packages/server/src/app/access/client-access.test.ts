import { describe, expect, it } from "vitest";
import { type ClientAccess, createClientAccessCache } from "./client-access.js";

function setUp() {
  let now = 0;
  const reads: { id: string; answer: (access: ClientAccess) => void; fail: (error: Error) => void }[] = [];
  const cache = createClientAccessCache(
    (id) =>
      new Promise((resolve, reject) => {
        reads.push({ id, answer: resolve, fail: reject });
      }),
    () => now,
  );
  const access = (): ClientAccess => ({ client: undefined, revokedTokenIds: new Set() });
  const load = async () => {
    const loading = cache.load("a");
    const known = access();
    reads.at(-1)?.answer(known);
    await loading;
    return known;
  };
  return { cache, reads, access, load, pass: (ms: number) => (now += ms) };
}

describe("what is known of a client", () => {
  it("is kept for a while and asked for again before it is too old, without anybody waiting", async () => {
    const { cache, reads, access, load, pass } = setUp();
    expect(cache.peek("a")).toBeUndefined();
    const first = await load();
    pass(1999);
    expect(cache.peek("a")).toBe(first);
    expect(reads).toHaveLength(1);
    pass(1);
    expect([cache.peek("a"), cache.peek("a")]).toEqual([first, first]);
    expect(reads).toHaveLength(2);
    const second = access();
    reads[1]?.answer(second);
    await Promise.resolve();
    await Promise.resolve();
    expect(cache.peek("a")).toBe(second);
  });

  it("is not believed after 4 s, whatever happens to the refresh", async () => {
    const { cache, reads, load, pass } = setUp();
    await load();
    pass(3000);
    cache.peek("a");
    reads[1]?.fail(new Error("the database is away"));
    await new Promise((resolve) => setImmediate(resolve));
    pass(1000);
    expect(cache.peek("a")).toBeUndefined();
  });

  it("counts its age from the beginning of the reading", async () => {
    const { cache, reads, access, pass } = setUp();
    const loading = cache.load("a");
    pass(3999);
    reads[0]?.answer(access());
    await loading;
    expect(cache.peek("a")).toBeDefined();
    pass(1);
    expect(cache.peek("a")).toBeUndefined();
  });

  it("is asked for once by many", async () => {
    const { cache, reads, access } = setUp();
    const loading = [cache.load("a"), cache.load("a"), cache.load("b")];
    expect(reads.map(({ id }) => id)).toEqual(["a", "b"]);
    for (const { answer } of reads) answer(access());
    await Promise.all(loading);
  });

  it("is not remembered from a reading that a change has overtaken", async () => {
    const { cache, reads, access } = setUp();
    const loading = cache.load("a");
    cache.forget("a");
    reads[0]?.answer(access());
    await loading;
    expect(cache.peek("a")).toBeUndefined();
  });
});
