import { chmodSync, rmSync, statSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { connect } from "node:net";
import { OperatorError } from "../operator-error.js";
import type { SignerService } from "../signer-service.js";
import { createRequestHandler } from "./handle-request.js";

/** 0600 admits processes of the same account, 0660 also those of the group of the socket's folder. */
export type SocketMode = 0o600 | 0o660;

export interface SocketServer {
  /** Requests in flight are answered first. */
  readonly close: () => Promise<void>;
}

const connectionsMax = 64;
const headersTimeoutMs = 10_000;
const requestTimeoutMs = 30_000;
const headerBytesMax = 4096;

export async function startSocketServer(options: {
  readonly path: string;
  readonly mode: SocketMode;
  readonly service: SignerService;
  readonly onFatal: (error: unknown) => void;
}): Promise<SocketServer> {
  const { path, mode, service, onFatal } = options;
  const server = createServer(
    {
      headersTimeout: headersTimeoutMs,
      requestTimeout: requestTimeoutMs,
      maxHeaderSize: headerBytesMax,
      keepAliveTimeout: 60_000,
    },
    createRequestHandler(service, onFatal),
  );
  server.maxConnections = connectionsMax;
  await removeStaleSocket(path);
  await listen(server, path);
  chmodSync(path, mode);
  return {
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeIdleConnections();
      }),
  };
}

/** The process creates files for its own account only, so that nobody can connect before the mode is set. */
function listen(server: Server, path: string): Promise<void> {
  const umask = process.umask(0o177);
  return new Promise<void>((resolve, reject) => {
    server.once("error", (cause: NodeJS.ErrnoException) => {
      const why = path.length > 100 ? "its path is too long for a socket" : (cause.code ?? cause.message);
      reject(new OperatorError(`The socket ${path} cannot be created: ${why}.`, { cause }));
    });
    server.listen(path, resolve);
  }).finally(() => process.umask(umask));
}

/** A killed process leaves its socket. Another file is not removed, and neither is a socket that somebody listens on. */
async function removeStaleSocket(path: string): Promise<void> {
  const status = statSync(path, { throwIfNoEntry: false });
  if (status === undefined) return;
  if (!status.isSocket()) throw new OperatorError(`${path} exists and is not a socket.`);
  const isInUse = await new Promise<boolean>((resolve) => {
    const socket = connect(path, () => {
      socket.destroy();
      resolve(true);
    }).once("error", (error: NodeJS.ErrnoException) => resolve(error.code !== "ECONNREFUSED"));
  });
  if (isInUse) throw new OperatorError(`Another process is listening on ${path}.`);
  rmSync(path);
}
