import { connect } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

const connectTimeoutMs = 5000;
/** So long a service that restarts may refuse connections. */
const pauseMs = 1000;

/** Why no connection to an address can be opened, now and a second later; undefined if one can. */
export async function findUnreachable(url: URL, signal: AbortSignal): Promise<string | undefined> {
  if ((await tryConnecting(url)) === undefined) return undefined;
  await delay(pauseMs, undefined, { signal }).catch(() => undefined);
  return tryConnecting(url);
}

function tryConnecting({ hostname, port, protocol }: URL): Promise<string | undefined> {
  const host = hostname.replace(/^\[|\]$/g, "");
  return new Promise((resolve) => {
    const socket = connect({ host, port: Number(port || (protocol === "https:" ? 443 : 80)) });
    const end = (reason: string | undefined) => {
      socket.destroy();
      resolve(reason);
    };
    socket.setTimeout(connectTimeoutMs, () => end(`no connection within ${connectTimeoutMs} ms`));
    socket.on("connect", () => end(undefined));
    socket.on("error", (error) => end(error.message));
  });
}
