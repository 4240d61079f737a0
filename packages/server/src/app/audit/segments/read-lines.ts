import { open } from "node:fs/promises";

/** An entry has at most 100 objects, and its strings are bounded: about 10 kB. */
const lineBytesMax = 64 * 1024;
const chunkBytes = 64 * 1024;

export class LineTooLongError extends Error {
  override readonly name = "LineTooLongError";
}

/** The complete lines of a file, one by one, in bounded memory. What follows the last line feed is left out. */
export async function* readLines(path: string): AsyncGenerator<string> {
  const file = await open(path, "r");
  try {
    const chunk = Buffer.alloc(chunkBytes);
    let rest = Buffer.alloc(0);
    for (;;) {
      const { bytesRead } = await file.read(chunk, 0, chunkBytes);
      if (bytesRead === 0) return;
      let bytes = Buffer.concat([rest, chunk.subarray(0, bytesRead)]);
      for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10)) {
        yield bytes.toString("utf8", 0, end);
        bytes = bytes.subarray(end + 1);
      }
      if (bytes.length > lineBytesMax) throw new LineTooLongError(`a line of ${path} is too long`);
      rest = bytes;
    }
  } finally {
    await file.close();
  }
}
