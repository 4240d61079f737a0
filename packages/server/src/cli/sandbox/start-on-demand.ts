import { rmSync } from "node:fs";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { pipeline } from "node:stream";
import { type Companion, type CompanionOptions, startCompanion } from "./companion-process.js";

/** Where a process can be reached: a port of this machine, or the path of a socket. */
type Place = { port: number; host: string } | { path: string };

interface OnDemandOptions<P extends Place> {
  companion: CompanionOptions;
  /** Where to listen for it; port 0 lets the system choose one. */
  listenOn: P;
  /** Where the process listens, by the line that it has printed. */
  placeOf: (line: string) => P;
}

/** A process that starts with the first connection. */
interface OnDemand<P extends Place> {
  /** Where connections to it are accepted. */
  place: P;
  stop: () => Promise<void>;
}

const connectionsMax = 128;

/** Listens in the place of a process, starts it with the first connection, and passes on what both sides send. */
export async function startOnDemand<P extends Place>(options: OnDemandOptions<P>): Promise<OnDemand<P>> {
  const { companion, listenOn, placeOf } = options;
  const sockets = new Set<Socket>();
  let started: Promise<Companion> | undefined;
  let isStopping = false;

  async function pass(socket: Socket): Promise<void> {
    started ??= startCompanion(companion);
    const { line } = await started;
    if (socket.destroyed || isStopping) return void socket.destroy();
    const target = connect({ ...placeOf(line), allowHalfOpen: true });
    // Each ends when the other does. What fails is for the client to repeat.
    pipeline(socket, target, () => undefined);
    pipeline(target, socket, () => undefined);
  }

  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket)).on("error", () => undefined);
    pass(socket).catch((error: Error) => {
      socket.destroy();
      if (!isStopping) companion.onLost(error);
    });
  });
  server.maxConnections = connectionsMax;
  const place = await listen(server, listenOn);
  return {
    place,
    stop: async () => {
      isStopping = true;
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
      const running = await started?.catch(() => undefined);
      await running?.stop();
    },
  };
}

async function listen<P extends Place>(server: Server, place: P): Promise<P> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).once("listening", resolve);
    if ("port" in place) server.listen(place);
    else listenOnSocket(server, place.path);
  });
  return "port" in place ? { ...place, port: (server.address() as AddressInfo).port } : place;
}

/** A killed process leaves its socket; the data folder is locked, so it is nobody else's. Only this account may connect. */
function listenOnSocket(server: Server, path: string): void {
  rmSync(path, { force: true });
  const umask = process.umask(0o177);
  try {
    server.listen(path);
  } finally {
    process.umask(umask);
  }
}
