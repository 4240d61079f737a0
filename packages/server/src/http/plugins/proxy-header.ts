/** The header that a proxy sends before the bytes of the client (PROXY protocol, version 2, section 2.2). */
export interface ProxyHeader {
  /** The number of bytes that it takes. */
  length: number;
  /** The client's address; undefined if the proxy speaks for itself, as in a health check. */
  address: string | undefined;
}

const signature = Buffer.from("0d0a0d0a000d0a515549540a", "hex");
const fixedLength = 16;
/** Addresses take 36 bytes; the rest is for extensions, which are ignored. */
const variableLengthMax = 2048;
export const proxyHeaderLengthMax = fixedLength + variableLengthMax;

const version2 = 2;
const commands = { local: 0, proxy: 1 } as const;
/** The family of addresses and the transport, in one byte; others, such as UDP and UNIX sockets, carry no HTTP from clients. */
const families = { unspecified: 0x00, tcp4: 0x11, tcp6: 0x21 } as const;

/** Reads the header at the beginning of what has arrived. Version 1, which is text, is not accepted. */
export function readProxyHeader(bytes: Buffer): ProxyHeader | "incomplete" | "malformed" {
  const known = Math.min(bytes.length, signature.length);
  if (!bytes.subarray(0, known).equals(signature.subarray(0, known))) return "malformed";
  if (bytes.length < fixedLength) return "incomplete";
  const [versionAndCommand, family] = [bytes.readUInt8(12), bytes.readUInt8(13)];
  const [version, command] = [versionAndCommand >> 4, versionAndCommand & 0x0f];
  const variableLength = bytes.readUInt16BE(14);
  if (version !== version2 || variableLength > variableLengthMax) return "malformed";
  if (command !== commands.local && command !== commands.proxy) return "malformed";
  const isAddressed = command === commands.proxy && family !== families.unspecified;
  const addressLength = isAddressed ? addressLengthOf(family) : 0;
  if (addressLength === undefined || variableLength < addressLength) return "malformed";
  const length = fixedLength + variableLength;
  if (bytes.length < length) return "incomplete";
  return { length, address: isAddressed ? showAddress(bytes, family) : undefined };
}

/** Two addresses and two ports. */
function addressLengthOf(family: number): number | undefined {
  if (family === families.tcp4) return 12;
  return family === families.tcp6 ? 36 : undefined;
}

/** The first of the addresses is the client's. */
function showAddress(bytes: Buffer, family: number): string {
  if (family === families.tcp4) return bytes.subarray(fixedLength, fixedLength + 4).join(".");
  const groups = Array.from({ length: 8 }, (_, index) => bytes.readUInt16BE(fixedLength + 2 * index));
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  if (isMapped) return `::ffff:${bytes.subarray(fixedLength + 12, fixedLength + 16).join(".")}`;
  // Written by the URL parser in its canonical form, with the longest run of zeros left out.
  return new URL(`http://[${groups.map((group) => group.toString(16)).join(":")}]`).hostname.slice(1, -1);
}
