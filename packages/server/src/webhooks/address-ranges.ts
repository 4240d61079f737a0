/**
 * The addresses that a webhook never goes to, from IANA's registries of special-purpose addresses, and those at which clouds tell
 * a machine its secrets. The first row that holds an address names it, so that the narrow rows stand before the wide ones.
 */
export const ipv4Ranges = [
  ["0.0.0.0/8", "unspecified"],
  ["10.0.0.0/8", "private"],
  ["100.100.100.200/32", "cloud metadata"],
  ["100.64.0.0/10", "carrier-grade NAT"],
  ["127.0.0.0/8", "loopback"],
  // Azure's host answers here, at a public address that leads nowhere else.
  ["168.63.129.16/32", "cloud metadata"],
  ["169.254.169.254/32", "cloud metadata"],
  ["169.254.0.0/16", "link-local"],
  ["172.16.0.0/12", "private"],
  ["192.0.0.192/32", "cloud metadata"],
  ["192.0.0.0/24", "protocol assignment"],
  ["192.0.2.0/24", "documentation"],
  ["192.31.196.0/24", "AS112"],
  ["192.52.193.0/24", "multicast relay"],
  ["192.88.99.0/24", "6to4 relay"],
  ["192.168.0.0/16", "private"],
  ["192.175.48.0/24", "AS112"],
  ["198.18.0.0/15", "benchmarking"],
  ["198.51.100.0/24", "documentation"],
  ["203.0.113.0/24", "documentation"],
  ["224.0.0.0/4", "multicast"],
  ["255.255.255.255/32", "broadcast"],
  ["240.0.0.0/4", "reserved"],
] as const;

/** What is in no row and outside of 2000::/3 is refused as well: only that part is given out for the public internet. */
export const ipv6Ranges = [
  ["::/128", "unspecified"],
  ["::1/128", "loopback"],
  ["::ffff:0:0/96", "IPv4-mapped"],
  ["::ffff:0:0:0/96", "IPv4-translated"],
  ["::/96", "IPv4-compatible"],
  ["64:ff9b::/96", "NAT64"],
  ["64:ff9b:1::/48", "NAT64"],
  ["100::/64", "discard-only"],
  ["2001::/32", "Teredo"],
  ["2001:2::/48", "benchmarking"],
  ["2001:10::/28", "ORCHID"],
  ["2001:20::/28", "ORCHID"],
  ["2001:db8::/32", "documentation"],
  ["2001::/23", "protocol assignment"],
  ["2002::/16", "6to4"],
  ["2620:4f:8000::/48", "AS112"],
  ["3fff::/20", "documentation"],
  ["fd00:ec2::254/128", "cloud metadata"],
  ["fd20:ce::254/128", "cloud metadata"],
  ["fd00:c1::a9fe:a9fe/128", "cloud metadata"],
  ["fc00::/7", "unique local"],
  ["fe80::/10", "link-local"],
  ["fec0::/10", "site-local"],
  ["ff00::/8", "multicast"],
  ["2000::/3", "public"],
  ["::/0", "reserved"],
] as const;

export type AddressKind = "public" | (typeof ipv4Ranges)[number][1] | (typeof ipv6Ranges)[number][1];
