import { describe, expect, it } from "vitest";
import { createFilePace } from "./file-pace.js";

const kibibyte = 1024;

describe("the pace of static files", () => {
  const quota = { perSecond: 500, burst: 10 };
  const neighbour = { address: "192.0.2.1", connection: "40001" };
  const victim = { address: "192.0.2.1", connection: "40002" };

  it("gives each connection of an address its turn, however many requests another one has sent", async () => {
    const pace = createFilePace(quota, () => performance.now());
    let servedOfNeighbour = 0;
    const flood = Array.from({ length: 500 }, async () => {
      if ((await pace.admit(neighbour, 100 * kibibyte)) === 0) servedOfNeighbour += 1;
    });
    expect(await pace.admit(victim, 100 * kibibyte)).toBe(0);
    expect(servedOfNeighbour).toBeLessThan(5);
    expect(flood).toHaveLength(500);
  });

  it("sends what is no larger than a refusal at once, also to an address in debt", async () => {
    const pace = createFilePace({ perSecond: 0.001, burst: 1 }, () => 0);
    expect(await pace.admit(neighbour, 4000 * kibibyte)).toBe(0);
    expect(await pace.admit(neighbour, 5 * kibibyte)).toBeGreaterThan(60);
    expect(await pace.admit(victim, 4 * kibibyte)).toBe(0);
    expect(await pace.admit({ ...victim, address: "192.0.2.2" }, 5 * kibibyte)).toBe(0);
  });

  it("bounds what is sent to an address, and leaves out what has left", async () => {
    let nowMs = 0;
    const pace = createFilePace({ perSecond: 100, burst: 1 }, () => nowMs);
    expect(await pace.admit(neighbour, 8 * kibibyte)).toBe(0);
    const first = pace.admit(neighbour, 8 * kibibyte);
    const gone = await pace.admit(victim, 8 * kibibyte, (leave) => leave());
    expect(gone).toBe(1);
    nowMs = 30;
    expect(await first).toBe(0);
  });
});
