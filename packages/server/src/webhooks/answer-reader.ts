/** Reads a response up to a bound, and keeps its beginning. */
export interface AnswerReader {
  /** Returns false when enough has been read. */
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
    // PostgreSQL cannot store the character zero in a string.
    excerpt: () =>
      kept.length === 0 ? "" : Buffer.concat(kept).toString("utf8").replaceAll("\u0000", "\ufffd"),
  };
}
