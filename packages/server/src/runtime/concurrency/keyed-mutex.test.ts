import { describe, expect, it } from "vitest";
import { createKeyedMutex } from "./keyed-mutex.js";

describe("a keyed mutex", () => {
  it("runs work with one key in order, one at a time, and other keys concurrently", async () => {
    const mutex = createKeyedMutex(10);
    const seen: string[] = [];
    const work = (name: string) => async () => {
      seen.push(`${name} begins`);
      await Promise.resolve();
      seen.push(`${name} ends`);
      return name;
    };
    const results = [mutex("x", work("a")), mutex("x", work("b")), mutex("y", work("c"))];
    expect(await Promise.all(results)).toEqual(["a", "b", "c"]);
    const inX = seen.filter((line) => !line.startsWith("c"));
    expect(inX).toEqual(["a begins", "a ends", "b begins", "b ends"]);
    expect(seen.indexOf("c begins")).toBeLessThan(seen.indexOf("b begins"));
  });

  it("refuses what exceeds its bound until something is done", async () => {
    const mutex = createKeyedMutex(1);
    let finish: () => void = () => undefined;
    const first = mutex("x", () => new Promise<void>((resolve) => (finish = resolve)));
    const second = mutex("x", async () => "second");
    expect(mutex("x", async () => "third")).toBeUndefined();
    await Promise.resolve();
    finish();
    await first;
    expect(await second).toBe("second");
    expect(await mutex("x", async () => "fourth")).toBe("fourth");
  });

  it("continues after a failure, which only its own caller sees", async () => {
    const mutex = createKeyedMutex(10);
    const failing = mutex("x", () => Promise.reject(new Error("no")));
    const next = mutex("x", async () => "next");
    await expect(failing).rejects.toThrow("no");
    expect(await next).toBe("next");
  });
});
