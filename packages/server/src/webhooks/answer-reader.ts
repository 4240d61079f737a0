/** Reads as much of an answer as is wanted: its beginning is kept, and it is not read without end. */
export interface AnswerReader {
  /** False when enough has been read. */
  take: (chunk: Uint8Array) => boolean;
  excerpt: () => string;
}

const answerBytesMax = 65_536;
const excerptBytesMax = 1024;

export function createAnswerReader(): AnswerReader {
  const kept: Uint8Array[] = [];
  let keptBytes = 0;
  let readBytes = 0;
  return {
    take: (chunk) => {
      readBytes += chunk.length;
      if (keptBytes < excerptBytesMax) {
        const part = Uint8Array.prototype.slice.call(chunk, 0, excerptBytesMax - keptBytes);
        keptBytes += part.length;
        kept.push(part);
      }
      return readBytes <= answerBytesMax;
    },
    // PostgreSQL has no place for the character zero in a text.
    excerpt: () =>
      kept.length === 0 ? "" : Buffer.concat(kept).toString("utf8").replaceAll("\u0000", "\ufffd"),
  };
}
