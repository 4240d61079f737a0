/*
 * Public keys of passkeys are COSE maps (RFC 9052), and one key has many encodings: another order, longer heads of numbers, further members.
 * What counts is the key itself, so that one private key is one person.
 */

type Cose = ReadonlyMap<number, number | Buffer>;

/** More than a key has. */
const membersMax = 16;

const [keyType, algorithm] = [1, 3];
const curveLength = 32;

/** Devices make RSA keys of 2048 bits. A longer one takes more time to verify with, and nothing proves how a key was made. */
const [modulusBitsMin, modulusBitsMax] = [2048, 4096];
/** The exponent of every device. With a large one a verification takes 30 ms instead of 0.6, and with 1 anybody can sign. */
const exponent = Buffer.from([1, 0, 1]);

/**
 * The one encoding of a key of EdDSA, ES256 or RS256 that the service stores: that of CTAP2, with the required members alone. Undefined if
 * the bytes are no such key, or one of RSA that no device makes.
 */
export function canonicalCoseKey(bytes: Uint8Array): Buffer | undefined {
  const cose = readCose(Buffer.from(bytes));
  const members = cose && membersOf(cose);
  if (members === undefined) return undefined;
  return Buffer.concat([
    head(5, members.length),
    ...members.flatMap(([label, value]) => [writeNumber(label), writeValue(value)]),
  ]);
}

/** Equal for equal keys, in whatever encoding they were stored. An Ed25519 key of a program is stored as its 32 bytes. */
export function publicKeyIdentity(bytes: Uint8Array): string {
  const raw = Buffer.from(bytes);
  const canonical = canonicalCoseKey(raw);
  if (canonical === undefined) return raw.toString("hex");
  return (ed25519KeyOf(canonical) ?? canonical).toString("hex");
}

/** The 32 bytes of an Ed25519 key in its canonical encoding; undefined for another key. */
export function ed25519KeyOf(canonical: Buffer): Buffer | undefined {
  const isEdwards = canonical.subarray(0, 3).equals(Buffer.from([0xa4, keyType, 1]));
  return isEdwards ? canonical.subarray(-curveLength) : undefined;
}

/** The members in their canonical order. The algorithm is that of the type of the key: otherwise one key would have several. */
function membersOf(cose: Cose): [number, number | Buffer][] | undefined {
  const [first, second, third] = [cose.get(-1), cose.get(-2), cose.get(-3)];
  const isOf = (type: number, alg: number) => cose.get(keyType) === type && cose.get(algorithm) === alg;
  const isPoint = (value: unknown): value is Buffer => Buffer.isBuffer(value) && value.length === curveLength;
  const typed = (type: number, alg: number): [number, number][] => [
    [keyType, type],
    [algorithm, alg],
  ];
  if (isOf(1, -8) && first === 6 && isPoint(second)) return [...typed(1, -8), [-1, 6], [-2, second]];
  if (isOf(2, -7) && first === 1 && isPoint(second) && isPoint(third))
    return [...typed(2, -7), [-1, 1], [-2, second], [-3, third]];
  if (isOf(3, -257) && isModulus(first) && Buffer.isBuffer(second) && withoutZeros(second).equals(exponent))
    return [...typed(3, -257), [-1, withoutZeros(first)], [-2, exponent]];
  return undefined;
}

function isModulus(value: unknown): value is Buffer {
  if (!Buffer.isBuffer(value)) return false;
  const number = withoutZeros(value);
  const bits = number.length * 8 - Math.clz32(number[0] ?? 0) + 24;
  return bits >= modulusBitsMin && bits <= modulusBitsMax && ((number.at(-1) ?? 0) & 1) === 1;
}

function withoutZeros(number: Buffer): Buffer {
  const start = number.findIndex((byte) => byte !== 0);
  return start === -1 ? Buffer.alloc(0) : number.subarray(start);
}

/** A map from numbers to numbers and byte strings, as much of CBOR (RFC 8949) as a key needs. */
function readCose(bytes: Buffer): Cose | undefined {
  let at = 0;
  const readHead = () => {
    const initial = bytes[at] ?? 0xff;
    const [major, info] = [initial >> 5, initial & 31];
    const size = info < 24 ? 0 : info < 27 ? 1 << (info - 24) : undefined;
    if (size === undefined || at + 1 + size > bytes.length) return undefined;
    const value = size === 0 ? info : bytes.readUIntBE(at + 1, size);
    at += 1 + size;
    return { major, value };
  };
  const readItem = () => {
    const item = readHead();
    if (item === undefined || item.major > 2) return undefined;
    if (item.major < 2) return item.major === 0 ? item.value : -1 - item.value;
    const end = at + item.value;
    if (end > bytes.length) return undefined;
    const string = bytes.subarray(at, end);
    at = end;
    return string;
  };
  const map = readHead();
  if (map?.major !== 5 || map.value > membersMax) return undefined;
  const cose = new Map<number, number | Buffer>();
  for (let count = 0; count < map.value; count++) {
    const [label, value] = [readItem(), readItem()];
    if (typeof label !== "number" || value === undefined || cose.has(label)) return undefined;
    cose.set(label, value);
  }
  return at === bytes.length ? cose : undefined;
}

function writeValue(value: number | Buffer): Buffer {
  return typeof value === "number" ? writeNumber(value) : Buffer.concat([head(2, value.length), value]);
}

function writeNumber(value: number): Buffer {
  return value >= 0 ? head(0, value) : head(1, -1 - value);
}

function head(major: number, value: number): Buffer {
  if (value < 24) return Buffer.from([(major << 5) | value]);
  if (value < 256) return Buffer.from([(major << 5) | 24, value]);
  return Buffer.from([(major << 5) | 25, value >> 8, value & 0xff]);
}
