import { createPublicKey, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import { isIPv4 } from "node:net";

/**
 * Certificates for tests of TLS, made here because Node can use them but not make them, and a test should need no program besides
 * Node. Only as much of X.509 (RFC 5280) as OpenSSL asks for.
 */
export interface TestAuthority {
  /** The authority's own certificate. */
  ca: string;
  issue: (options: CertificateOptions) => { key: string; cert: string };
}

interface CertificateOptions {
  /** Host names and IPv4 addresses. */
  names: string[];
  /** How long it is valid from now on; in the past for one that has expired. */
  validMs?: number;
  /** Of an elliptic curve if left out. */
  isRsa?: boolean;
}

const dayMs = 86_400_000;

export function createTestAuthority(name = "Test Authority"): TestAuthority {
  const authority = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const issuer = { name, key: authority.privateKey };
  const isAuthority = extension([2, 5, 29, 19], sequence(der(0x01, Buffer.from([0xff]))), true);
  return {
    ca: certificate({
      subject: name,
      key: authority.publicKey,
      issuer,
      validMs: dayMs,
      extensions: [isAuthority],
    }),
    issue: ({ names, validMs = dayMs, isRsa = false }) => {
      const own = isRsa
        ? generateKeyPairSync("rsa", { modulusLength: 2048 })
        : generateKeyPairSync("ec", { namedCurve: "P-256" });
      const alternatives = names.map((entry) =>
        isIPv4(entry) ? der(0x87, Buffer.from(entry.split(".").map(Number))) : der(0x82, Buffer.from(entry)),
      );
      return {
        key: own.privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
        cert: certificate({
          subject: names[0] ?? "nobody",
          key: own.publicKey,
          issuer,
          validMs,
          extensions: [extension([2, 5, 29, 17], sequence(...alternatives), false)],
        }),
      };
    },
  };
}

interface Content {
  subject: string;
  key: KeyObject;
  issuer: { name: string; key: KeyObject };
  validMs: number;
  extensions: Buffer[];
}

function certificate({ subject, key, issuer, validMs, extensions }: Content): string {
  const algorithm = sequence(oid([1, 2, 840, 10045, 4, 3, 2]));
  const end = Date.now() + validMs;
  const content = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    algorithm,
    distinguishedName(issuer.name),
    sequence(time(Math.min(Date.now(), end) - dayMs), time(end)),
    distinguishedName(subject),
    createPublicKey(key.export({ type: "spki", format: "pem" })).export({ type: "spki", format: "der" }),
    der(0xa3, sequence(...extensions)),
  );
  const signature = der(0x03, Buffer.concat([Buffer.from([0]), sign("sha256", content, issuer.key)]));
  const base64 = sequence(content, algorithm, signature).toString("base64");
  return `-----BEGIN CERTIFICATE-----\n${base64.match(/.{1,64}/g)?.join("\n")}\n-----END CERTIFICATE-----\n`;
}

function distinguishedName(name: string): Buffer {
  return sequence(der(0x31, sequence(oid([2, 5, 4, 3]), der(0x0c, Buffer.from(name)))));
}

function extension(id: number[], value: Buffer, isCritical: boolean): Buffer {
  const critical = isCritical ? [der(0x01, Buffer.from([0xff]))] : [];
  return sequence(oid(id), ...critical, der(0x04, value));
}

function time(ms: number): Buffer {
  return der(0x18, Buffer.from(`${new Date(ms).toISOString().replace(/[-:T]|\.\d+Z/g, "")}Z`));
}

function oid([first = 0, second = 0, ...rest]: number[]): Buffer {
  const bytes = [first * 40 + second];
  for (const arc of rest) {
    const groups = [arc & 0x7f];
    for (let left = arc >> 7; left > 0; left >>= 7) groups.unshift((left & 0x7f) | 0x80);
    bytes.push(...groups);
  }
  return der(0x06, Buffer.from(bytes));
}

function sequence(...parts: Buffer[]): Buffer {
  return der(0x30, Buffer.concat(parts));
}

function der(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const size =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}
