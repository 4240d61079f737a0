import { ipv4Ranges } from "../../../src/webhooks/judge-address.js";

/** URLs by which somebody might try to reach inside: every spelling of an address, for every range that is not public. */
export function hostileUrls(port: number): string[] {
  const literals = ipv4Ranges.flatMap(([network]) => {
    const address = network.split("/")[0] ?? "";
    return spellings(address).map((host) => `https://${host}:${port}/`);
  });
  const loopback = spellings("127.0.0.1").flatMap((host) => [
    `http://${host}:${port}/`,
    `https://${host}:${port}/`,
  ]);
  return [
    ...literals,
    ...loopback,
    ...ipv6Hosts.map((host) => `https://[${host}]:${port}/`),
    ...oddOnes(port),
  ];
}

function spellings(address: string): string[] {
  const parts = address.split(".").map(Number);
  const [a = 0, b = 0, c = 0, d = 0] = parts;
  const value = ((a * 256 + b) * 256 + c) * 256 + d;
  const hex = (number: number) => number.toString(16);
  const group = (high: number, low: number) => hex(high * 256 + low);
  return [
    address,
    `${address}.`,
    String(value),
    `0x${hex(value)}`,
    `0${value.toString(8)}`,
    parts.map((part) => `0x${hex(part)}`).join("."),
    parts.map((part) => `0${part.toString(8)}`).join("."),
    `0x${hex(a)}.${b}.0${c.toString(8)}.${d}`,
    `${a}.${b}.${c * 256 + d}`,
    `${a}.${(b * 256 + c) * 256 + d}`,
    address.replace(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit))),
    address.replaceAll(".", "。"),
    address.replace(/\d/g, (digit) => `%3${digit}`),
    `[::ffff:${address}]`,
    `[::ffff:${group(a, b)}:${group(c, d)}]`,
    `[::${address}]`,
    `[64:ff9b::${address}]`,
    `[64:ff9b:1::${address}]`,
    `[2002:${group(a, b)}:${group(c, d)}::1]`,
  ];
}

const ipv6Hosts = [
  ..."::1 :: 0:0:0:0:0:0:0:1 0000:0000:0000:0000:0000:0000:0000:0001 fe80::1 fec0::1 fc00::1 fd00::1 ff02::1 100::1".split(
    " ",
  ),
  ..."fd00:ec2::254 fd20:ce::254 2001:db8::1 2001::1 2001:10::1 3fff::1 5f00::1 4000::1 ::ffff:0:127.0.0.1".split(
    " ",
  ),
];

const oddOnes = (port: number) => [
  `http://localhost:${port}/`,
  `https://localhost:${port}/`,
  `https://LOCALHOST:${port}/`,
  `https://localhost.:${port}/`,
  `https://app.localhost:${port}/`,
  `https://ｌｏｃａｌｈｏｓｔ:${port}/`,
  `https://127.0.0.1\\@receiver.example:${port}/`,
  `https://receiver.example@127.0.0.1:${port}/`,
  `https://receiver.example:443@127.0.0.1:${port}/`,
  `https://receiver.example%00@127.0.0.1:${port}/`,
  `https://127.0.0.1:${port}#@receiver.example/`,
  `https://127.0.0.1:${port}?@receiver.example/`,
  `https:\\\\127.0.0.1:${port}\\`,
  `https:127.0.0.1:${port}`,
  `https:///127.0.0.1:${port}/`,
  `//127.0.0.1:${port}/`,
  `127.0.0.1:${port}`,
  ` https://127.0.0.1:${port}/`,
  `https://127.0.0\t.1:${port}/`,
  `https://127.0.0.1\n:${port}/`,
  `https://[::1%25lo]:${port}/`,
  `https://[fe80::1%25eth0]:${port}/`,
  `https://0:${port}/`,
  `https://0x:${port}/`,
  `https://256.256.256.256:${port}/`,
  `https://4294967296:${port}/`,
  `https://metadata.google.internal:${port}/computeMetadata/v1/`,
  `https://instance-data.ec2.internal:${port}/`,
  `https://intranet:${port}/`,
  `ftp://127.0.0.1:${port}/`,
  `ws://127.0.0.1:${port}/`,
  `wss://127.0.0.1:${port}/`,
  `gopher://127.0.0.1:${port}/_POST`,
  "file:///etc/passwd",
  "data:text/plain,hello",
  "javascript:fetch('http://127.0.0.1')",
  "about:blank",
  `blob:https://127.0.0.1:${port}/1`,
  `unix:/var/run/docker.sock`,
  `https://receiver.example:22/`,
  `https://receiver.example:25/`,
];
