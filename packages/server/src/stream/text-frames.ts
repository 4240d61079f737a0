/** Strings as WebSocket frames. The service's frames are not masked, so the same bytes can be sent to any number of sockets. */
export interface TextFrames {
  /** All of them, one after the other. */
  all: Buffer;
  /** Each on its own; these are parts of `all`, not copies. */
  each: readonly Buffer[];
}

const finalTextFrame = 0x81;
/** Values of a frame's second byte if the length is in the two or eight bytes after it (RFC 6455, section 5.2). */
const lengthInTwoBytes = 126;
const lengthInEightBytes = 127;
const twoByteLengthMax = 0xffff;

export function textFrames(texts: readonly string[]): TextFrames {
  const lengths = texts.map((text) => Buffer.byteLength(text));
  const total = lengths.reduce((sum, length) => sum + headerLength(length) + length, 0);
  // Not from Node's pool: frames are kept for clients that resume, and each would keep the 8 kB of the pool that it is a part of. A market
  // whose 256 kB of small frames were made between other work kept 7 MB.
  const all = Buffer.allocUnsafeSlow(total);
  const each: Buffer[] = [];
  let offset = 0;
  texts.forEach((text, index) => {
    const length = lengths[index] ?? 0;
    const start = offset;
    offset = writeHeader(all, offset, length);
    offset += all.write(text, offset, length, "utf8");
    each.push(all.subarray(start, offset));
  });
  return { all, each };
}

export function textFrame(text: string): Buffer {
  return textFrames([text]).all;
}

function headerLength(length: number): number {
  if (length < lengthInTwoBytes) return 2;
  return length <= twoByteLengthMax ? 4 : 10;
}

function writeHeader(into: Buffer, offset: number, length: number): number {
  into[offset] = finalTextFrame;
  switch (headerLength(length)) {
    case 2:
      into[offset + 1] = length;
      return offset + 2;
    case 4:
      into[offset + 1] = lengthInTwoBytes;
      return into.writeUInt16BE(length, offset + 2);
    default:
      into[offset + 1] = lengthInEightBytes;
      return into.writeBigUInt64BE(BigInt(length), offset + 2);
  }
}
