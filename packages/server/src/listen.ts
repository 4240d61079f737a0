import { type AddressInfo, createServer } from "node:net";
import type { FastifyInstance } from "fastify";
import { OperatorError } from "./operator-error.js";

interface ListenOptions {
  host: string;
  port: number;
}

/** Returns the address that the service listens on. */
export async function listen(app: FastifyInstance, { host, port }: ListenOptions): Promise<string> {
  try {
    const url = await app.listen({ host: addressOf(host), port });
    return host === "localhost" ? url.replace(addressOf(host), host) : url;
  } catch (error) {
    throw explainListenError(error, host, port);
  }
}

/** Checks that the port is free. 0 is replaced by a free port, because tokens contain the address of the service. */
export async function findPort({ host, port }: ListenOptions): Promise<number> {
  const probe = createServer();
  try {
    await new Promise<void>((resolve, reject) => {
      probe.once("error", reject);
      probe.listen({ host: addressOf(host), port, exclusive: true }, resolve);
    });
  } catch (error) {
    throw explainListenError(error, host, port);
  }
  const found = (probe.address() as AddressInfo).port;
  await new Promise((resolve) => probe.close(resolve));
  return found;
}

/**
 * Fastify would open a second server for the other address of `localhost`, which lacks what is installed on the first. Clients try both
 * addresses of a name.
 */
function addressOf(host: string): string {
  return host === "localhost" ? "127.0.0.1" : host;
}

export function explainListenError(error: unknown, host: string, port: number): unknown {
  switch ((error as NodeJS.ErrnoException).code) {
    case "EADDRINUSE":
      return new OperatorError(
        `Port ${port} on ${host} is already in use, by another program or by a Bursar that is running. Stop it, or choose another port with PORT.`,
      );
    case "EACCES":
      return new OperatorError(
        `This account may not listen on port ${port}. Choose a port from 1024 upwards with PORT.`,
      );
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
      return new OperatorError(`${host} is not an address of this machine. Set HOST to one that is.`);
    default:
      return error;
  }
}
