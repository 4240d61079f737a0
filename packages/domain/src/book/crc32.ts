/** CRC-32 as in ISO 3309 and zlib, over texts. The domain has no dependencies, and Node 20 has no such function everywhere. */
export const crc32AtFirst = 0xffffffff;

const table = Int32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value;
});

/** Goes on with a text. A character beyond ASCII counts as its UTF-16 code, low byte first. */
export function addToCrc32(crc: number, text: string): number {
  let value = crc;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    value = (value >>> 8) ^ (table[(value ^ code) & 0xff] as number);
    if (code > 0x7f) value = (value >>> 8) ^ (table[(value ^ (code >>> 8)) & 0xff] as number);
  }
  return value;
}

export function finishCrc32(crc: number): number {
  return (crc ^ 0xffffffff) >>> 0;
}
