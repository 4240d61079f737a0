import type { Socket } from "node:net";

/** Half of the chunks that a body may have for nothing, if each has one byte. */
const sliceBytes = 1024;

/** Node does not declare the parser of a connection. It is null after an upgrade. */
type ParsedSocket = Socket & { parser?: unknown };

/**
 * Gives what arrives on a connection to its HTTP parser in small slices, so that it can be stopped in between: otherwise it parses all of a
 * read, up to 64 KiB, whatever is found at its beginning. It is a little slower, because Node has to read the connection in JavaScript.
 */
export function readInSlices(socket: Socket, isEnded: () => boolean): void {
  const [parse] = socket.listeners("data") as ((part: Buffer) => void)[];
  if (parse === undefined || !isParsed(socket)) return;
  socket.removeListener("data", parse);
  const parseSlices = (part: Buffer) => {
    for (let from = 0; from < part.length; from += sliceBytes) {
      if (isEnded() || socket.destroyed) return;
      if (!isParsed(socket)) socket.removeListener("data", parseSlices);
      // The rest is given again when somebody goes on reading.
      if (!isParsed(socket) || (from > 0 && socket.isPaused())) {
        socket.unshift(part.subarray(from));
        return;
      }
      parse(part.subarray(from, from + sliceBytes));
    }
  };
  socket.on("data", parseSlices);
}

function isParsed({ parser }: ParsedSocket): boolean {
  return parser !== null && parser !== undefined;
}
