import { describe, expect, it } from "vitest";
import { readPrivateNetworks } from "./private-networks.js";

describe("private networks", () => {
  it.each([
    [["10.1.0.0/16"], ["10.1.0.0", "10.1.255.255"], ["10.0.255.255", "10.2.0.0", "192.168.0.1", "8.8.8.8"]],
    [["192.168.7.9"], ["192.168.7.9"], ["192.168.7.8", "192.168.7.10"]],
    [
      ["10.1.2.3/8", "fd00:1::/32"],
      ["10.255.0.1", "fd00:1::7"],
      ["172.16.0.1", "fd00:2::7", "fc00::1"],
    ],
    [["100.64.0.0/10"], ["100.64.0.1"], ["100.100.100.200"]],
    [
      ["fc00::/7"],
      ["fd12::1"],
      ["fd00:ec2::254", "::ffff:10.0.0.1", "64:ff9b::10.0.0.1", "fd12::1%eth0", ""],
    ],
  ])("%j open what is in them, and nothing else", (list, inside, outside) => {
    const networks = readPrivateNetworks(list);
    expect(inside.filter((address) => !networks.includes(address))).toEqual([]);
    expect(outside.filter((address) => networks.includes(address))).toEqual([]);
  });

  it.each([
    "127.0.0.0/8",
    "169.254.169.254",
    "0.0.0.0/0",
    "8.8.8.0/24",
    "10.0.0.0/4",
    "::1",
    "fe80::/10",
    "::/0",
  ])("%s cannot be opened", (network) => {
    expect(() => readPrivateNetworks([network])).toThrow(`${network} is not a private network`);
  });

  it.each(["10.0.0.0/8/9", "10.0.0.0/1e1", "10.0.0.0/ 8", "10.0.0.0/", "10.0.0.0/33", "10.0/8"])(
    "%j is not a network",
    (network) => {
      expect(() => readPrivateNetworks([network])).toThrow(`${network} is not a network`);
    },
  );

  it("are none unless the operator names some", () => {
    expect(readPrivateNetworks([]).isEmpty).toBe(true);
    expect(readPrivateNetworks([]).includes("10.0.0.1")).toBe(false);
  });
});
