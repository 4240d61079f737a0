import { describe, expect, it } from "vitest";
import { findLowerLimits } from "./signer-limits.js";

const network = { network: "eip155:1", feeCap: 500_000_000_000n, feeMax: 50_000_000_000_000_000n };

describe("the limits of the signer", () => {
  it("are no fault if they are not below the configuration", () => {
    expect(findLowerLimits(network, { perGas: network.feeCap, perTransaction: network.feeMax })).toEqual([]);
  });

  it("are named with both values if they are below it", () => {
    expect(findLowerLimits(network, { perGas: 1_000_000_000n, perTransaction: 10n ** 16n })).toEqual([
      expect.stringContaining("at most 1 gwei per gas on eip155:1, and fee_cap_gwei is 500"),
      expect.stringContaining("at most 0.01 coins for a transaction on eip155:1, and fee_max is 0.05"),
    ]);
  });
});
