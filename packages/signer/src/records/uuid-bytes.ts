import { hashWords } from "./hash-index.js";

export const uuidBytes = 16;

/** A UUID as four words, which is how it is compared. */
export type UuidWords = readonly [number, number, number, number];

export function wordsOfUuid(uuid: string): UuidWords {
  const hex = uuid.replaceAll("-", "");
  const word = (index: number) => Number.parseInt(hex.slice(index * 8, index * 8 + 8), 16);
  return [word(0), word(1), word(2), word(3)];
}

export function hashUuid([a, b, c, d]: UuidWords): number {
  return hashWords(a, b, c, d);
}

export function writeUuid(view: DataView, offset: number, words: UuidWords): void {
  for (const [index, word] of words.entries()) view.setUint32(offset + index * 4, word);
}

export function readUuidWords(view: DataView, offset: number): UuidWords {
  const word = (index: number) => view.getUint32(offset + index * 4);
  return [word(0), word(1), word(2), word(3)];
}

export function readUuid(view: DataView, offset: number): string {
  const hex = readUuidWords(view, offset)
    .map((word) => word.toString(16).padStart(8, "0"))
    .join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

export function uuidMatches(view: DataView, offset: number, [a, b, c, d]: UuidWords): boolean {
  return (
    view.getUint32(offset) === a &&
    view.getUint32(offset + 4) === b &&
    view.getUint32(offset + 8) === c &&
    view.getUint32(offset + 12) === d
  );
}
