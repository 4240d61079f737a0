import { randomInt } from "node:crypto";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A proxy that breaks connections in the middle of a transfer, until it has broken the requested number. */
export interface ChaosProxy {
  port: number;
  /** The number of broken connections, by kind. */
  broken: () => Record<Fate, number>;
  close: () => Promise<void>;
}

/** `reset` resets the connection. `stall` stops sending without closing. `slice` sends small pieces and then resets. */
type Fate = "reset" | "stall" | "slice";

export interface ChaosOptions {
  /** Connections go to these ports in turn. */
  ports: readonly number[];
  cuts: number;
  /** A connection is broken after at most this many bytes from the server. */
  bytesMax: number;
}

const fates: readonly Fate[] = ["reset", "stall", "slice"];
const crumbBytes = 7;

export async function createChaosProxy({ ports, cuts, bytesMax }: ChaosOptions): Promise<ChaosProxy> {
  const broken: Record<Fate, number> = { reset: 0, stall: 0, slice: 0 };
  const sockets = new Set<Socket>();
  /** What is still to happen. A connection that its client gives up hands its fate back, so that the requested number is reached. */
  const ahead = Array.from({ length: cuts }, (_, at) => fates[at % fates.length] as Fate);

  let turn = 0;

  const server = createServer((incoming) => {
    const outgoing = connect(ports[turn++ % ports.length] as number, "127.0.0.1");
    const fate = ahead.shift();
    let isBroken = false;
    let left = fate === undefined ? Number.POSITIVE_INFINITY : randomInt(1, bytesMax);
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
    }
    incoming.on("close", () => {
      if (fate !== undefined && !isBroken) ahead.push(fate);
    });
    incoming.on("data", (chunk) => outgoing.write(chunk));
    outgoing.on("data", (chunk) => {
      const passed = chunk.subarray(0, Math.min(left, chunk.length));
      pass(passed, fate === "slice" ? crumbBytes : chunk.length, incoming);
      if (left > 0 && left <= chunk.length && fate !== undefined) {
        broken[fate] += 1;
        isBroken = true;
        if (fate !== "stall") setImmediate(() => incoming.resetAndDestroy());
      }
      left -= passed.length;
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    broken: () => broken,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function pass(bytes: Buffer, pieceBytes: number, to: Socket): void {
  // Only the end is sent in small pieces, because they are slow and only the position of the cut matters.
  const whole = Math.max(0, bytes.length - 50 * pieceBytes);
  if (whole > 0) to.write(bytes.subarray(0, whole));
  for (let at = whole; at < bytes.length; at += pieceBytes) to.write(bytes.subarray(at, at + pieceBytes));
}
