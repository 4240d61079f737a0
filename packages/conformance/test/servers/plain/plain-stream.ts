import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";
import type { Has } from "./plain-server.js";

interface Entry {
  readonly sequence: number;
  readonly transaction: { id: string; state: string };
}

export interface PlainStream {
  /** Adds an event to the log of a tenant, and sends it to those who follow. */
  readonly publish: (tenant: string, transaction: { id: string; state: string }) => void;
  readonly upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
  readonly stop: () => void;
}

/** The live event that the faults of order concern: late enough that some came before, early enough that some follow. */
const concerned = 3;

/** A log with a sequence for each tenant, and a WebSocket that follows it, also from an earlier sequence. */
export function createPlainStream(
  has: Has,
  tenantOfToken: (given: string) => string | undefined,
): PlainStream {
  const logs = new Map<string, Entry[]>();
  const followers = new Set<{ tenant: string; send: (entry: Entry) => void }>();
  const sockets = new WebSocketServer({ noServer: true });
  const logOf = (tenant: string) => logs.get(tenant) ?? logs.set(tenant, []).get(tenant) ?? [];
  /** The transactions, in the order in which they were created. */
  const published = new Set<string>();

  const publish: PlainStream["publish"] = (tenant, transaction) => {
    published.add(transaction.id);
    if (has("stream-leaves-out-one") && [...published].indexOf(transaction.id) % 2 === 1) return;
    const log = logOf(tenant);
    const entry = { sequence: log.length + 1, transaction: { ...transaction } };
    log.push(entry);
    for (const one of followers) if (one.tenant === tenant) one.send(entry);
  };

  const follow = (socket: WebSocket, tenant: string) => {
    const write = (message: object) => socket.send(JSON.stringify(message));
    const sendEvent = ({ sequence, transaction }: Entry) => {
      const state = has("stream-disagrees") ? "unknown" : transaction.state;
      write({ type: "event", sequence, data: { transaction: { ...transaction, state } } });
    };
    const follower = { tenant, send: withFaults(has, sendEvent) };
    write({ type: "hello", version: has("stream-off-schema") ? 1 : "1" });
    socket.on("close", () => followers.delete(follower));
    socket.on("message", (data) => {
      const { since } = JSON.parse(data.toString()) as { since?: number };
      const log = logOf(tenant);
      if (since !== undefined && since > log.length && !has("stream-claims-future"))
        return write({ type: "error", error: { code: "SEQUENCE_AHEAD" } });
      write({ type: "subscribed", recovered: !has("stream-never-recovers") });
      if (since !== undefined && !has("stream-never-recovers") && !has("stream-claims-recovery"))
        for (const entry of log.slice(since)) sendEvent(entry);
      followers.add(follower);
    });
  };

  return {
    publish,
    upgrade: (request, socket, head) => {
      const given = request.headers.authorization ?? "";
      const tenant = tenantOfToken(given) ?? (has("stream-open-to-all") ? "first" : undefined);
      const isThere = request.url === "/v1/stream" && !has("stream-refused");
      if (tenant === undefined || !isThere) {
        socket.end(`HTTP/1.1 ${isThere ? "401 Unauthorized" : "404 Not Found"}\r\nContent-Length: 0\r\n\r\n`);
        return;
      }
      sockets.handleUpgrade(request, socket, head, (opened) => follow(opened, tenant));
    },
    stop: () => {
      for (const socket of sockets.clients) socket.terminate();
      sockets.close();
    },
  };
}

/** Live events as they are, or with the third one left out, repeated or late. */
function withFaults(has: Has, send: (entry: Entry) => void): (entry: Entry) => void {
  let count = 0;
  let held: Entry | undefined;
  return (entry) => {
    count += 1;
    const isConcerned = count === concerned;
    if (isConcerned && has("stream-skips")) return;
    if (isConcerned && has("stream-reorders")) {
      held = entry;
      return;
    }
    send(entry);
    if (isConcerned && has("stream-repeats")) send(entry);
    if (held !== undefined) send(held);
    held = undefined;
  };
}
