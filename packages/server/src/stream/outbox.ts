import type { Duplex } from "node:stream";

/** The frames that wait to be written to one socket, up to a bound. */
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
    // The frames go to the socket itself, past the library's sender: it would build the header again for each socket.
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
