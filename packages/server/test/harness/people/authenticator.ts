import { createHash, generateKeyPairSync, randomBytes, sign } from "node:crypto";

/** An authenticator in software: P-256 keys, CBOR and authenticator data as WebAuthn has them, and every fault that a test asks for. */
export interface Faults {
  origin?: string;
  rpId?: string;
  isUserVerified?: boolean;
  counter?: number;
  type?: string;
  /** Registers this key of RSA. */
  rsa?: { modulus: Buffer; exponent: Buffer };
  /** Registers this key of Ed25519. */
  ed25519?: Buffer;
  /** Says how the key was made. Without certificates, the key itself has signed that. */
  attestation?: { format: string; certificates?: Buffer[] };
}

const rpId = "localhost";
const [userPresent, userVerified, hasCredential] = [0x01, 0x04, 0x40];

export function createAuthenticator(origin: string) {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const { x = "", y = "" } = publicKey.export({ format: "jwk" });
  const credentialId = randomBytes(32);
  const id = credentialId.toString("base64url");
  let userHandle = "";

  const clientData = (type: string, challenge: string, faults: Faults) =>
    Buffer.from(
      JSON.stringify({
        type: faults.type ?? type,
        challenge,
        origin: faults.origin ?? origin,
        crossOrigin: false,
      }),
    );
  const authenticatorData = (flags: number, faults: Faults) => {
    const verified = faults.isUserVerified === false ? 0 : userVerified;
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(faults.counter ?? 0);
    const rpIdHash = createHash("sha256")
      .update(faults.rpId ?? rpId)
      .digest();
    return Buffer.concat([rpIdHash, Buffer.from([userPresent | verified | flags]), counter]);
  };

  const keyOf = ({ rsa, ed25519 }: Faults): [number, number | Buffer][] => {
    if (rsa !== undefined)
      return [
        [1, 3],
        [3, -257],
        [-1, rsa.modulus],
        [-2, rsa.exponent],
      ];
    if (ed25519 !== undefined)
      return [
        [1, 1],
        [3, -8],
        [-1, 6],
        [-2, ed25519],
      ];
    return [
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, Buffer.from(x, "base64url")],
      [-3, Buffer.from(y, "base64url")],
    ];
  };

  const statementOf = ({ attestation }: Faults, signed: Buffer) => {
    if (attestation === undefined) return new Map();
    const statement = new Map<string, unknown>([
      ["alg", -7],
      ["sig", sign("sha256", signed, privateKey)],
    ]);
    return attestation.certificates === undefined
      ? statement
      : statement.set("x5c", attestation.certificates);
  };

  return {
    id,
    userHandle: () => userHandle,
    /** What `navigator.credentials.create` answers. */
    register: (options: { challenge: string; user_handle: string }, faults: Faults = {}) => {
      userHandle = options.user_handle;
      const cose = cbor(new Map<number, number | Buffer>(keyOf(faults)));
      const length = Buffer.alloc(2);
      length.writeUInt16BE(credentialId.length);
      const authData = Buffer.concat([
        authenticatorData(hasCredential, faults),
        Buffer.alloc(16),
        length,
        credentialId,
        cose,
      ]);
      const data = clientData("webauthn.create", options.challenge, faults);
      const attestation = cbor(
        new Map<string, unknown>([
          ["fmt", faults.attestation?.format ?? "none"],
          ["attStmt", statementOf(faults, signedBytes(authData, data))],
          ["authData", authData],
        ]),
      );
      return {
        id,
        client_data: data.toString("base64url"),
        attestation_object: attestation.toString("base64url"),
      };
    },
    /** What `navigator.credentials.get` answers. */
    assert: (challenge: string, faults: Faults = {}) => {
      const data = clientData("webauthn.get", challenge, faults);
      const authData = authenticatorData(0, faults);
      return {
        id,
        client_data: data.toString("base64url"),
        authenticator_data: authData.toString("base64url"),
        signature: sign("sha256", signedBytes(authData, data), privateKey).toString("base64url"),
      };
    },
  };
}

/** What a passkey signs. */
function signedBytes(authData: Buffer, clientData: Buffer): Buffer {
  return Buffer.concat([authData, createHash("sha256").update(clientData).digest()]);
}

export type Authenticator = ReturnType<typeof createAuthenticator>;

/** The header of a request that a person confirms, computed as the documentation says. */
export function passkeyHeader(
  { authenticator, token }: { authenticator: Authenticator; token: string },
  { act, target, digest }: { act: string; target: string; digest: string },
  at = new Date().toISOString(),
  faults: Faults = {},
): string {
  const { tenant_id, client_id } = JSON.parse(
    Buffer.from(token.split(".")[1] ?? "", "base64url").toString(),
  ) as Record<string, string>;
  const content = `bursar-passkey-v2\n${tenant_id}\n${client_id}\n${act}\n${target}\n${digest}\n${at}`;
  const challenge = createHash("sha256").update(content).digest("base64url");
  return Buffer.from(JSON.stringify({ at, ...authenticator.assert(challenge, faults) })).toString(
    "base64url",
  );
}

/** As much of CBOR (RFC 8949) as an authenticator writes. */
function cbor(value: unknown): Buffer {
  if (typeof value === "number") return value >= 0 ? head(0, value) : head(1, -1 - value);
  if (typeof value === "string")
    return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value]);
  if (Array.isArray(value)) return Buffer.concat([head(4, value.length), ...value.map(cbor)]);
  if (!(value instanceof Map)) throw new Error("not encoded");
  return Buffer.concat([
    head(5, value.size),
    ...[...value].flatMap(([key, item]) => [cbor(key), cbor(item)]),
  ]);
}

function head(major: number, length: number): Buffer {
  if (length < 24) return Buffer.from([(major << 5) | length]);
  if (length < 256) return Buffer.from([(major << 5) | 24, length]);
  return Buffer.from([(major << 5) | 25, length >> 8, length & 0xff]);
}
