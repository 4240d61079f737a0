/**
 * Public identifiers are TypeIDs (specification 0.3): a prefix that names the kind of resource, and a UUID in Crockford base32. The
 * database stores the UUID; the prefix prevents a wallet id from being used as a transaction id.
 */
export type TypeId<Prefix extends string> = `${Prefix}_${string}`;

const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";
const suffixLength = 26;
// Every request has several identifiers, so the conversion uses look-up tables and writes two characters at a time.
const hexBytes = Array.from({ length: 256 }, (_, value) => value.toString(16).padStart(2, "0"));
const alphabetPairs = Array.from(
  { length: 1024 },
  (_, value) => alphabet.charAt(value >> 5) + alphabet.charAt(value & 31),
);
const noValue = 0xff;
/** The value of each character, by its code. */
const values = Uint8Array.from({ length: 128 }, (_, code) => {
  const value = alphabet.indexOf(String.fromCharCode(code));
  return value < 0 ? noValue : value;
});

/** Converts a UUID, in its form with hyphens, to a TypeID. */
export function typeIdFromUuid<Prefix extends string>(prefix: Prefix, uuid: string): TypeId<Prefix> {
  // 26 characters of 5 bits hold 130 bits: the UUID is preceded by two zero bits.
  let bits = 0;
  let bitCount = 2;
  let suffix = "";
  for (let index = 0; index < uuid.length; index++) {
    const nibble = hexValue(uuid.charCodeAt(index));
    if (nibble < 0) continue;
    bits = (bits << 4) | nibble;
    bitCount += 4;
    if (bitCount >= 10) {
      bitCount -= 10;
      suffix += alphabetPairs[bits >>> bitCount];
      bits &= (1 << bitCount) - 1;
    }
  }
  if (suffix.length !== suffixLength) throw new Error(`not a UUID: ${uuid}`);
  return `${prefix}_${suffix}`;
}

/** Reads the UUID of a TypeID; undefined if the string is not a TypeID with this prefix. */
export function uuidFromTypeId(prefix: string, text: string): string | undefined {
  const start = prefix.length + 1;
  if (text.length !== start + suffixLength) return undefined;
  if (!text.startsWith(prefix) || text.charCodeAt(prefix.length) !== 0x5f) return undefined;
  let hex = "";
  let bits = 0;
  let bitCount = -2;
  for (let index = start; index < text.length; index++) {
    const value = values[text.charCodeAt(index)] ?? noValue;
    // The first character carries three bits of the UUID; 8 to z would not fit into 128 bits.
    if (value === noValue || (index === start && value > 7)) return undefined;
    bits = (bits << 5) | value;
    bitCount += 5;
    if (bitCount >= 8) {
      bitCount -= 8;
      hex += hexBytes[bits >>> bitCount];
      bits &= (1 << bitCount) - 1;
    }
  }
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

export function isTypeId<Prefix extends string>(prefix: Prefix, text: string): text is TypeId<Prefix> {
  return uuidFromTypeId(prefix, text) !== undefined;
}

function hexValue(charCode: number): number {
  if (charCode >= 0x30 && charCode <= 0x39) return charCode - 0x30;
  if (charCode >= 0x61 && charCode <= 0x66) return charCode - 0x61 + 10;
  if (charCode >= 0x41 && charCode <= 0x46) return charCode - 0x41 + 10;
  return -1;
}
