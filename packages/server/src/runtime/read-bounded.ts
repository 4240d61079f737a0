/** Each piece costs some microseconds, whatever its size: 60 KB in pieces of one byte took 100 ms. Servers send hundreds of bytes at a time. */
const piecesFree = 1024;
const bytesPerPiece = 128;

export function arePiecesTooSmall(pieces: number, bytes: number): boolean {
  return pieces > piecesFree + bytes / bytesPerPiece;
}

/**
 * The answer of a server that is not trusted with this process; undefined if it has too many bytes, or comes in too many small pieces. Leaving
 * the loop ends the connection.
 */
export async function readBounded(
  body: AsyncIterable<Uint8Array>,
  bytesMax: number,
): Promise<Buffer | undefined> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of body) {
    bytes += piece.length;
    pieces.push(piece);
    if (bytes > bytesMax || arePiecesTooSmall(pieces.length, bytes)) return undefined;
  }
  return Buffer.concat(pieces);
}
