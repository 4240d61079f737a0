import { describe, expect, it } from "vitest";
import { type Lease, LeaseLostError } from "./lease.js";
import { createSoleLease } from "./sole-lease.js";

interface NamedLease extends Lease {
  name: string;
}

/** A store with one lease, which notes what is asked of it. */
function storeWith({ isFree = true } = {}) {
  const asked: string[] = [];
  const state = { isFree, isLost: false, fence: 0 };
  const sole = createSoleLease<NamedLease, string>({
    wanted: "x",
    what: "the market X",
    leases: {
      acquire: async (name) => {
        asked.push("acquire");
        return state.isFree ? [{ name, holder: "h", fence: String(++state.fence) }] : [];
      },
      renew: async (held) => new Map(state.isLost ? [] : held.map((one) => [one.name, one])),
      isRenewalDue: () => false,
      release: async (held) => {
        asked.push(...held.map(({ fence }) => `release ${fence}`));
      },
    },
  });
  return { sole, asked, state };
}
const fenceOf = async ({ fence }: NamedLease) => fence;

describe("the sole lease of a loop", () => {
  it("is acquired once, and kept until it was lost", async () => {
    const { sole, asked } = storeWith();
    expect([await sole.begin(fenceOf), await sole.begin(fenceOf)]).toEqual(["1", "1"]);
    sole.forget();
    expect(await sole.begin(fenceOf)).toBe("2");
    expect(asked).toEqual(["acquire", "acquire"]);
  });

  it("loads nothing while another process holds it", async () => {
    const { sole } = storeWith({ isFree: false });
    expect(await sole.begin(() => Promise.reject(new Error("loaded")))).toBeUndefined();
    await sole.release();
  });

  it("is lost if it cannot be renewed", async () => {
    const { sole, state } = storeWith();
    await sole.begin(async (lease) => {
      await sole.renew(lease);
      state.isLost = true;
      await expect(sole.renew(lease)).rejects.toEqual(
        new LeaseLostError("another process holds the lease of the market X"),
      );
    });
  });

  it("is released after a reset, before it is acquired again, and what was loaded before is of no use", async () => {
    const { sole, asked } = storeWith();
    const loadedBefore = await sole.begin(async (lease) => {
      sole.reset();
      return lease.fence;
    });
    expect(loadedBefore).toBeUndefined();
    expect(await sole.begin(fenceOf)).toBe("2");
    await sole.release();
    expect(asked).toEqual(["acquire", "release 1", "acquire", "release 2"]);
  });
});
