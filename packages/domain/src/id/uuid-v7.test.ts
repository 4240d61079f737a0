import { describe, expect, it } from "vitest";
import { createUuidV7Source, timeOfUuidV7 } from "./uuid-v7.js";

const zeros = (count: number) => new Uint8Array(count);

describe("UUID version 7", () => {
  it("contains the time, the version and the variant", () => {
    const next = createUuidV7Source({
      now: () => 0x017f22e279b0,
      randomBytes: (count) => new Uint8Array(count).fill(0xff),
    });
    expect(next()).toBe("017f22e2-79b0-77ff-bfff-ffffffffffff");
  });

  it("has a time that can be read back", () => {
    const next = createUuidV7Source({ now: () => 0x017f22e279b0, randomBytes: zeros });
    expect(timeOfUuidV7(next())).toBe(0x017f22e279b0);
  });

  it("increases within one millisecond, past the end of the counter", () => {
    const next = createUuidV7Source({ now: () => 1000, randomBytes: zeros });
    const ids = Array.from({ length: 10_000 }, next);
    expect(ids).toEqual([...new Set(ids)].sort());
  });

  it("follows a clock that is set back by more than 30 seconds", () => {
    const times = [100_000, 69_000];
    const source = createUuidV7Source({ now: () => times.shift() ?? 0, randomBytes: zeros });
    expect([timeOfUuidV7(source()), timeOfUuidV7(source())]).toEqual([100_000, 69_000]);
  });

  it("increases while the clock goes back", () => {
    const times = [1000, 999, 500, 1000, 1001];
    const next = createUuidV7Source({ now: () => times.shift() ?? 0, randomBytes: zeros });
    const ids = [next(), next(), next(), next(), next()];
    expect(ids).toEqual([...ids].sort());
  });

  it("requests random bytes in bulk", () => {
    let calls = 0;
    const next = createUuidV7Source({
      now: () => 1,
      randomBytes: (count) => {
        calls += 1;
        return new Uint8Array(count);
      },
    });
    for (let index = 0; index < 512; index++) next();
    expect(calls).toBe(1);
  });
});
