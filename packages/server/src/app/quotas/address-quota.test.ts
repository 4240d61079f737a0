import { describe, expect, it } from "vitest";
import { createAddressQuota } from "./address-quota.js";

describe("the quota of an address", () => {
  const quota = { perSecond: 1, burst: 2 };

  it("admits a burst, then says how long to wait, and admits again after that", () => {
    let nowMs = 0;
    const addresses = createAddressQuota(quota, () => nowMs);
    expect([1, 2, 3].map(() => addresses.take("192.0.2.1"))).toEqual([0, 0, 2]);
    expect([addresses.wait("192.0.2.1"), addresses.wait("192.0.2.2")]).toEqual([2, 0]);
    nowMs = 2000;
    expect(addresses.take("192.0.2.1")).toBe(0);
  });

  it("counts an IPv6 network as one address", () => {
    const addresses = createAddressQuota(quota, () => 0);
    expect(["2001:db8::1", "2001:db8::2", "2001:db8::3"].map(addresses.take)).toEqual([0, 0, 2]);
    expect(addresses.take("2001:db8:0:1::1")).toBe(0);
  });

  it("has bounded memory", () => {
    const addresses = createAddressQuota(quota, () => 0);
    for (let count = 0; count < 3; count++) addresses.take("192.0.2.1");
    for (let block = 0; block < 10_000; block++) addresses.take(`10.0.${block >> 8}.${block & 255}`);
    expect(addresses.wait("192.0.2.1")).toBe(0);
  });
});
