import { connect, createServer, type Server, type Socket } from "node:net";
import { freePort } from "../../../src/embedded/free-port.js";

/** Stands between a client and a server, so that a test can take the server away and give it back. */
export interface TcpProxy {
  port: number;
  /** Refuses new connections and resets those that are open. */
  cut: () => Promise<void>;
  /** Keeps every connection open and lets nothing through, as a network that swallows packets does. */
  stall: () => void;
  /** The same for the connections that are open now, which do not even close; later ones are let through. */
  freeze: () => void;
  /** Lets connections through again, on the same port. */
  restore: () => Promise<void>;
}

export async function createTcpProxy(target: { host: string; port: number }): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let server: Server | undefined;
  const port = await freePort();
  let isStalled = false;

  async function restore(): Promise<void> {
    isStalled = false;
    const listening = createServer((incoming) => {
      const outgoing = connect(target.port, target.host);
      for (const [socket, other] of [
        [incoming, outgoing],
        [outgoing, incoming],
      ] as const) {
        sockets.add(socket);
        socket.on("error", () => undefined);
        socket.on("close", () => {
          sockets.delete(socket);
          other.destroy();
        });
        socket.on("data", (chunk) => {
          if (!isStalled) other.write(chunk);
        });
      }
    });
    await new Promise<void>((resolve, reject) => {
      listening.once("error", reject);
      listening.listen(port, "127.0.0.1", resolve);
    });
    server = listening;
  }

  async function cut(): Promise<void> {
    const closed = new Promise((resolve) => server?.close(resolve));
    for (const socket of sockets) socket.resetAndDestroy();
    await closed;
  }

  await restore();
  return {
    port,
    cut,
    stall: () => {
      isStalled = true;
    },
    freeze: () => {
      for (const socket of sockets) socket.pause();
    },
    restore,
  };
}
