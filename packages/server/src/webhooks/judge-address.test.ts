import { describe, expect, it } from "vitest";
import { judgeAddress, readPrivateNetworks } from "./judge-address.js";

describe("an address", () => {
  it.each([
    ["0.0.0.0", "unspecified"],
    ["0.255.255.255", "unspecified"],
    ["10.0.0.0", "private"],
    ["10.255.255.255", "private"],
    ["100.64.0.0", "carrier-grade NAT"],
    ["100.127.255.255", "carrier-grade NAT"],
    ["100.100.100.200", "cloud metadata"],
    ["127.0.0.1", "loopback"],
    ["127.255.255.255", "loopback"],
    ["168.63.129.16", "cloud metadata"],
    ["169.254.0.1", "link-local"],
    ["169.254.169.254", "cloud metadata"],
    ["172.16.0.0", "private"],
    ["172.31.255.255", "private"],
    ["192.0.0.1", "protocol assignment"],
    ["192.0.2.255", "documentation"],
    ["192.88.99.1", "6to4 relay"],
    ["192.168.255.255", "private"],
    ["198.18.0.0", "benchmarking"],
    ["198.19.255.255", "benchmarking"],
    ["198.51.100.1", "documentation"],
    ["203.0.113.1", "documentation"],
    ["224.0.0.1", "multicast"],
    ["239.255.255.255", "multicast"],
    ["240.0.0.1", "reserved"],
    ["255.255.255.254", "reserved"],
    ["255.255.255.255", "broadcast"],
    ["::", "unspecified"],
    ["::1", "loopback"],
    ["::2", "IPv4-compatible"],
    ["::127.0.0.1", "IPv4-compatible"],
    ["::ffff:127.0.0.1", "IPv4-mapped"],
    ["::ffff:808:808", "IPv4-mapped"],
    ["::ffff:0:127.0.0.1", "IPv4-translated"],
    ["64:ff9b::10.0.0.1", "NAT64"],
    ["64:ff9b:1:ffff::1", "NAT64"],
    ["64:ff9b:2::1", "reserved"],
    ["100::1", "discard-only"],
    ["2001::1", "Teredo"],
    ["2001:0:ffff::1", "Teredo"],
    ["2001:2::1", "benchmarking"],
    ["2001:1f::1", "ORCHID"],
    ["2001:2f::1", "ORCHID"],
    ["2001:1::1", "protocol assignment"],
    ["2001:db8::1", "documentation"],
    ["2002:7f00:1::", "6to4"],
    ["3fff:fff::1", "documentation"],
    ["4000::1", "reserved"],
    ["5f00::1", "reserved"],
    ["fc00::1", "unique local"],
    ["fdff:ffff::1", "unique local"],
    ["fd00:ec2::254", "cloud metadata"],
    ["fe80::1", "link-local"],
    ["febf::1", "link-local"],
    ["fec0::1", "site-local"],
    ["ff02::1", "multicast"],
  ])("%s is %s", (address, kind) => {
    expect(judgeAddress(address)).toBe(kind);
  });

  it.each([
    "1.0.0.0",
    "8.8.8.8",
    "9.255.255.255",
    "11.0.0.0",
    "100.63.255.255",
    "100.128.0.0",
    "126.255.255.255",
    "128.0.0.0",
    "169.253.255.255",
    "169.255.0.0",
    "172.15.255.255",
    "172.32.0.0",
    "192.167.255.255",
    "192.169.0.0",
    "198.17.255.255",
    "198.20.0.0",
    "223.255.255.255",
    "2000::",
    "2001:200::1",
    "2001:4860:4860::8888",
    "2003::1",
    "2606:4700::1111",
    "3ffe:ffff::1",
  ])("%s is public, next to one that is not", (address) => {
    expect(judgeAddress(address)).toBe("public");
  });

  it.each([
    "",
    "localhost",
    "127.1",
    "0x7f000001",
    "2130706433",
    "fe80::1%eth0",
    "[::1]",
    "1.2.3.4.5",
    ":::1",
  ])("%j is none", (text) => {
    expect(judgeAddress(text)).toBeUndefined();
  });
});

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
