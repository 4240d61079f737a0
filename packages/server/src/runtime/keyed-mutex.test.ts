import { describe, expect, it } from "vitest";
import { createLanes } from "./keyed-mutex.js";

describe("lanes", () => {
  it("do what is in one of them one after the other, in order, and different ones side by side", async () => {
    const lanes = createLanes(10);
    const seen: string[] = [];
    const work = (name: string) => async () => {
      seen.push(`${name} begins`);
      await Promise.resolve();
      seen.push(`${name} ends`);
      return name;
    };
    const results = [lanes("x", work("a")), lanes("x", work("b")), lanes("y", work("c"))];
    expect(await Promise.all(results)).toEqual(["a", "b", "c"]);
    const inX = seen.filter((line) => !line.startsWith("c"));
    expect(inX).toEqual(["a begins", "a ends", "b begins", "b ends"]);
    expect(seen.indexOf("c begins")).toBeLessThan(seen.indexOf("b begins"));
  });

  it("let so many wait and no more, until one is done", async () => {
    const lanes = createLanes(1);
    let finish: () => void = () => undefined;
    const first = lanes("x", () => new Promise<void>((resolve) => (finish = resolve)));
    const second = lanes("x", async () => "second");
    expect(lanes("x", async () => "third")).toBeUndefined();
    await Promise.resolve();
    finish();
    await first;
    expect(await second).toBe("second");
    expect(await lanes("x", async () => "fourth")).toBe("fourth");
  });

  it("go on after a failure, which only its own caller hears of", async () => {
    const lanes = createLanes(10);
    const failing = lanes("x", () => Promise.reject(new Error("no")));
    const next = lanes("x", async () => "next");
    await expect(failing).rejects.toThrow("no");
    expect(await next).toBe("next");
  });
});
