import type { Server } from "node:http";
import { BlockList, isIP, type Socket } from "node:net";
import type { FastifyBaseLogger } from "fastify";
import { proxyHeaderLengthMax, readProxyHeader } from "./proxy-header.js";

export interface ProxyProtocolOptions {
  /** Addresses or networks, separated by commas. */
  trustedProxies: string;
  /** The time for the whole header to arrive. */
  timeoutMs: number;
  log: FastifyBaseLogger;
}

/**
 * Reads the header of the PROXY protocol from connections of trusted proxies, before any HTTP. A trusted proxy must send it; any other
 * peer speaks plain HTTP and cannot claim another address.
 */
export function installProxyProtocol(server: Server, options: ProxyProtocolOptions): void {
  const { trustedProxies, timeoutMs, log } = options;
  const trusted = readNetworks(trustedProxies);
  const accepted = new WeakSet<Socket>();
  const listeners = server.listeners("connection") as ((socket: Socket) => void)[];
  const accept = (socket: Socket) => {
    accepted.add(socket);
    for (const listener of listeners) listener.call(server, socket);
  };
  server.removeAllListeners("connection");
  server.on("connection", (socket: Socket) => {
    const peer = socket.remoteAddress;
    // A connection is emitted again after a request for another protocol.
    if (accepted.has(socket) || peer === undefined || !isTrusted(trusted, peer)) return accept(socket);
    receiveHeader(socket, timeoutMs, (address) => {
      if (address !== undefined) Object.defineProperty(socket, "remoteAddress", { value: address });
      accept(socket);
    }).catch((error: Error) => {
      log.info({ peer, reason: error.message }, "refused a connection of a proxy");
      socket.destroy();
    });
  });
}

/** Calls back with the client's address, with the rest of the stream put back; rejects if there is no valid header in time. */
function receiveHeader(
  socket: Socket,
  timeoutMs: number,
  onHeader: (address: string | undefined) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let received = Buffer.alloc(0);
    const timer = setTimeout(() => finish(new Error("the header of the PROXY protocol is late")), timeoutMs);
    const onError = (error: Error) => finish(error);
    const onEnd = () => finish(new Error("the connection was closed before the header was complete"));
    const finish = (error?: Error) => {
      clearTimeout(timer);
      socket.off("data", onData).off("error", onError).off("end", onEnd).off("close", onEnd);
      if (error === undefined) return resolve();
      // It can still fail while it is being closed.
      socket.on("error", () => undefined);
      reject(error);
    };
    const onData = (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      const header = readProxyHeader(received);
      if (header === "incomplete" && received.length <= proxyHeaderLengthMax) return;
      if (typeof header === "string")
        return finish(new Error("the header of the PROXY protocol is malformed"));
      finish();
      socket.pause();
      if (received.length > header.length) socket.unshift(received.subarray(header.length));
      // As a new socket: the HTTP parser starts it.
      (socket as { readableFlowing: boolean | null }).readableFlowing = null;
      onHeader(header.address);
    };
    socket.on("data", onData).once("error", onError).once("end", onEnd).once("close", onEnd);
  });
}

function readNetworks(list: string): BlockList {
  const networks = new BlockList();
  for (const entry of list.split(",")) {
    const [address = "", length] = entry.trim().split("/");
    const family = isIP(address) === 6 ? "ipv6" : "ipv4";
    networks.addSubnet(address, Number(length ?? (family === "ipv6" ? 128 : 32)), family);
  }
  return networks;
}

function isTrusted(networks: BlockList, peer: string): boolean {
  const address = peer.replace(/^::ffff:(?=\d+\.)/, "");
  return networks.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");
}
