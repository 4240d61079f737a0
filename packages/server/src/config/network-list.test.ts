import { describe, expect, it } from "vitest";
import { ListFault } from "./list-setting.js";
import { networkList } from "./network-list.js";

const sepolia = { network: "eip155:11155111", rpc_urls: "https://one.example/secret, http://two.example" };

/** The error message for a list, with the position of the fault. */
function faultOf(written: unknown): string {
  try {
    networkList.read(written);
    return "none";
  } catch (error) {
    if (!(error instanceof ListFault)) throw error;
    return `networks${error.place} ${error.message}`;
  }
}

describe("the list of networks", () => {
  it("is read with its defaults", () => {
    expect(networkList.read([sepolia])).toEqual([
      {
        network: "eip155:11155111",
        rpcUrls: ["https://one.example/secret", "http://two.example"],
        finality: { tag: "finalized" },
        feeCap: 500_000_000_000n,
        feeMax: 50_000_000_000_000_000n,
        minimumTip: 10_000_000n,
        tipMax: 20_000_000_000n,
        inFlightMax: 16,
        hasDataFee: false,
        hasPool: true,
      },
    ]);
  });

  it("is read with its own values, to the wei", () => {
    const [network] = networkList.read([
      {
        ...sepolia,
        ...{ finality: "12", fee_cap_gwei: "0.000000001", minimum_tip_gwei: "0" },
        ...{ fee_max: "0.000000000000000001", in_flight: "1", data_fee: "true", no_pool: "true" },
      },
    ]);
    expect(network).toMatchObject({
      ...{ finality: { depth: 12 }, feeCap: 1n, feeMax: 1n, minimumTip: 0n },
      ...{ inFlightMax: 1, hasDataFee: true, hasPool: false },
    });
  });

  it("shows no part of a URL", () => {
    const [network] = networkList.read([sepolia]);
    const shown = JSON.stringify(networkList.show(network as NonNullable<typeof network>));
    expect(shown).toContain('"rpc_urls":"********"');
    expect(shown).not.toMatch(/example|secret/);
  });

  it("has an example that can be read", () => {
    expect(networkList.read(networkList.exampleTexts)).toHaveLength(1);
  });

  it.each([
    ["another kind of chain", { network: "solana:mainnet" }, "networks[0].network is"],
    ["a chain id with a leading zero", { network: "eip155:01" }, "networks[0].network is"],
    ["a chain id that is too large", { network: "eip155:999999999999999" }, "a chain id of at most"],
    ["no URL", { rpc_urls: "" }, "networks[0].rpc_urls is not valid: it must be one to 8 different URLs"],
    [
      "a URL of another protocol",
      { rpc_urls: "wss://a.example/secret" },
      "networks[0].rpc_urls is not valid",
    ],
    [
      "a URL twice",
      { rpc_urls: "https://a.example/secret,https://a.example/secret" },
      "rpc_urls is not valid",
    ],
    [
      "an unknown tag",
      { finality: "latest" },
      'networks[0].finality is "latest": it must be finalized, safe',
    ],
    ["a depth of zero", { finality: "0" }, "networks[0].finality is"],
    ["a cap of zero", { fee_cap_gwei: "0" }, 'networks[0].fee_cap_gwei is "0": it must be greater than zero'],
    [
      "a maximum fee of zero",
      { fee_max: "0.0" },
      'networks[0].fee_max is "0.0": it must be greater than zero',
    ],
    ["a fraction of a wei", { fee_cap_gwei: "0.0000000001" }, "networks[0].fee_cap_gwei is"],
    ["a tip above its maximum", { minimum_tip_gwei: "21" }, "must be at most tip_max_gwei, 20"],
    ["a tip above the cap", { fee_cap_gwei: "1", minimum_tip_gwei: "2" }, "must be at most the fee cap, 1"],
    ["too many in flight", { in_flight: "257" }, "networks[0].in_flight is"],
  ])("refuses %s, without showing a URL", (_what, change, message) => {
    const fault = faultOf([{ ...sepolia, ...change }]);
    expect(fault).toContain(message);
    expect(fault).not.toMatch(/example|secret/);
  });

  it("refuses a network twice", () => {
    expect(faultOf([sepolia, sepolia])).toContain('networks[1].network is "eip155:11155111", like entry [0]');
  });
});
