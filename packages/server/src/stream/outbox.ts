import type { Duplex } from "node:stream";

/** What waits to be written to one socket, which has a bound. */
export interface Outbox {
  send: (frames: Buffer) => void;
  room: () => Promise<boolean>;
}

export interface OutboxDeps {
  socket: Duplex;
  bufferBytesMax: number;
  isOpen: () => boolean;
  onFull: () => void;
}

export function createOutbox({ socket, bufferBytesMax, isOpen, onFull }: OutboxDeps): Outbox {
  return {
    // The frames go to the socket itself, past the library's sender: it would make a header for each socket and message anew.
    // That is safe because nothing is compressed, so that the sender never holds anything back.
    send: (frames) => {
      if (!isOpen()) return;
      socket.write(frames);
      if (socket.writableLength > bufferBytesMax) onFull();
    },
    room: async () => {
      if (isOpen() && socket.writableLength > bufferBytesMax / 4) {
        await new Promise<void>((resolve) => {
          const done = () => {
            socket.off("drain", done).off("close", done);
            resolve();
          };
          socket.once("drain", done).once("close", done);
        });
      }
      return isOpen();
    },
  };
}
