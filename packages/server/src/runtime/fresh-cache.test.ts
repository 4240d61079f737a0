import { describe, expect, it } from "vitest";
import { createFreshCache } from "./fresh-cache.js";

interface Thing {
  name: string;
}

function setUp() {
  let now = 0;
  const reads: { id: string; answer: (thing: Thing) => void; fail: (error: Error) => void }[] = [];
  const cache = createFreshCache<Thing>(
    (id) =>
      new Promise((resolve, reject) => {
        reads.push({ id, answer: resolve, fail: reject });
      }),
    () => now,
  );
  const thing = (): Thing => ({ name: "thing" });
  const load = async () => {
    const loading = cache.load("a");
    const known = thing();
    reads.at(-1)?.answer(known);
    await loading;
    return known;
  };
  return { cache, reads, thing, load, pass: (ms: number) => (now += ms) };
}

describe("a fresh cache", () => {
  it("keeps a value for a while and reads it again before it is too old, without a caller waiting", async () => {
    const { cache, reads, thing, load, pass } = setUp();
    expect(cache.peek("a")).toBeUndefined();
    const first = await load();
    pass(1999);
    expect(cache.peek("a")).toBe(first);
    expect(reads).toHaveLength(1);
    pass(1);
    expect([cache.peek("a"), cache.peek("a")]).toEqual([first, first]);
    expect(reads).toHaveLength(2);
    const second = thing();
    reads[1]?.answer(second);
    await Promise.resolve();
    await Promise.resolve();
    expect(cache.peek("a")).toBe(second);
  });

  it("does not use a value after 4 s, even if the refresh fails", async () => {
    const { cache, reads, load, pass } = setUp();
    await load();
    pass(3000);
    cache.peek("a");
    reads[1]?.fail(new Error("the database is unavailable"));
    await new Promise((resolve) => setImmediate(resolve));
    pass(1000);
    expect(cache.peek("a")).toBeUndefined();
  });

  it("counts the age of a value from the start of the read", async () => {
    const { cache, reads, thing, pass } = setUp();
    const loading = cache.load("a");
    pass(3999);
    reads[0]?.answer(thing());
    await loading;
    expect(cache.peek("a")).toBeDefined();
    pass(1);
    expect(cache.peek("a")).toBeUndefined();
  });

  it("reads once for concurrent callers", async () => {
    const { cache, reads, thing } = setUp();
    const loading = [cache.load("a"), cache.load("a"), cache.load("b")];
    expect(reads.map(({ id }) => id)).toEqual(["a", "b"]);
    for (const { answer } of reads) answer(thing());
    await Promise.all(loading);
  });

  it("does not store a read that a change has overtaken", async () => {
    const { cache, reads, thing } = setUp();
    const loading = cache.load("a");
    cache.forget("a");
    reads[0]?.answer(thing());
    await loading;
    expect(cache.peek("a")).toBeUndefined();
  });
});
