import { setTimeout as sleep } from "node:timers/promises";
import { apiVersion, type CloseCode, requestIdHeader, streamProtocol, versionHeader } from "@bursar/protocol";
import { type WebSocket, WebSocketServer } from "ws";
import type { Refused } from "../app/requests/refused.js";
import type { StreamOpening } from "../app/stream/stream-use-cases.js";
import type { Metric } from "../runtime/metric.js";
import { type Connection, createConnection } from "./connection.js";
import { findHandshakeFault, type HandshakeRules } from "./handshake.js";
import { createHeartbeats } from "./heartbeat.js";
import type { StreamDeps } from "./stream-deps.js";

/**
 * The live stream: it upgrades requests that the HTTP edge has admitted to WebSockets, and manages them. Nothing here has a timer or
 * a query of its own per socket: thousands of idle streams cost memory and one set of timers.
 */
export interface StreamGateway {
  open: (opening: StreamOpening) => Refused | undefined;
  metrics: readonly Metric[];
  /** Ends all streams at once, for a reason that concerns all of them. New ones can be opened. */
  closeAll: (code: CloseCode, reason: string) => void;
  /** Ends all streams within the time, spread over a while so that their clients do not reconnect all at once. */
  close: (withinMs: number) => Promise<void>;
}

export interface GatewayDeps extends StreamDeps, HandshakeRules {
  newConnectionId: () => string;
}

/** How long the client may take to answer the end of a stream. */
const closeTimeoutMs = 5000;
const closingStepMs = 50;
const closingMsPerSocket = 5;
/**
 * In how many frames a message, and in how many pieces a frame may arrive. No client needs more than one frame for a message of a few
 * kilobytes, and each takes a hundred times its one byte for as long as the message has not ended.
 */
const fragmentsMax = 16;
const piecesMax = 1024;

export function createStreamGateway(deps: GatewayDeps): StreamGateway {
  const { limits, log } = deps;
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: limits.messageBytes,
    maxFragments: fragmentsMax,
    maxBufferedChunks: piecesMax,
    closeTimeout: closeTimeoutMs,
    handleProtocols: () => streamProtocol,
  } as ConstructorParameters<typeof WebSocketServer>[0]);
  const byClient = new Map<string, Set<Connection>>();
  const countOfTenant = new Map<string, number>();
  /** A tenant with many clients leaves half of the streams to the others. */
  const tenantMax = Math.max(limits.socketsPerClient, Math.ceil(limits.sockets / 2));
  const heartbeats = createHeartbeats(deps);
  const stats = { open: 0, opened: 0, cut: 0 };
  let isStopping = false;

  function findFault({ request, authenticated }: StreamOpening): Refused | undefined {
    if (isStopping) return { refused: "UNAVAILABLE" };
    const fault = findHandshakeFault(request, deps);
    if (fault !== undefined) return fault;
    if (stats.open >= limits.sockets) return { refused: "OVERLOADED" };
    const { tenantId, clientId } = authenticated.principal;
    if ((countOfTenant.get(tenantId) ?? 0) >= tenantMax) return { refused: "TOO_MANY_STREAMS" };
    const own = byClient.get(clientId)?.size ?? 0;
    return own >= limits.socketsPerClient ? { refused: "TOO_MANY_STREAMS" } : undefined;
  }

  function open(opening: StreamOpening): Refused | undefined {
    const fault = findFault(opening);
    if (fault !== undefined) return fault;
    const { request, takeSocket, requestId, address, authenticated } = opening;
    const { socket, head } = takeSocket();
    const addHeaders = (lines: string[]) => {
      lines.push(`${requestIdHeader}: ${requestId}`, `${versionHeader}: ${apiVersion}`);
    };
    server.once("headers", addHeaders);
    // Called before this returns, or not at all if the client has disconnected.
    server.handleUpgrade(request, socket, head, (ws: WebSocket) => {
      const id = deps.newConnectionId();
      const connection = createConnection(
        {
          id,
          ws,
          socket,
          requestId,
          address,
          authenticated,
          onClosed: (code) => {
            leave(connection, id, code);
            count(authenticated.principal.tenantId, -1);
          },
        },
        deps,
      );
      join(connection);
      count(authenticated.principal.tenantId, 1);
      log.info({ request_id: requestId, connection_id: id }, "stream opened");
    });
    server.off("headers", addHeaders);
    return undefined;
  }

  function count(tenantId: string, change: 1 | -1): void {
    const next = (countOfTenant.get(tenantId) ?? 0) + change;
    if (next === 0) countOfTenant.delete(tenantId);
    else countOfTenant.set(tenantId, next);
  }

  function join(connection: Connection): void {
    const own = byClient.get(connection.clientId) ?? new Set();
    byClient.set(connection.clientId, own.add(connection));
    heartbeats.add(connection);
    stats.open += 1;
    stats.opened += 1;
  }

  function leave(connection: Connection, id: string, code: number): void {
    const own = byClient.get(connection.clientId);
    own?.delete(connection);
    if (own?.size === 0) byClient.delete(connection.clientId);
    heartbeats.remove(connection);
    stats.open -= 1;
    if (code === 1013) stats.cut += 1;
    log.info({ connection_id: id, code }, "stream closed");
  }

  async function close(withinMs: number): Promise<void> {
    isStopping = true;
    const deadlineMs = deps.monotonicMs() + withinMs;
    const all = [...byClient.values()].flatMap((own) => [...own]);
    const spreadMs = Math.min(limits.shutdownSpreadMs, withinMs / 2, all.length * closingMsPerSocket);
    const steps = Math.ceil(spreadMs / closingStepMs);
    for (let step = 1; all.length > 0; step++) {
      const count = Math.ceil(all.length / Math.max(1, steps - step + 1));
      for (const connection of all.splice(0, count)) connection.close(1001, "going away");
      if (all.length > 0) await sleep(closingStepMs);
    }
    while (stats.open > 0 && deps.monotonicMs() < deadlineMs) await sleep(closingStepMs / 5);
    for (const own of byClient.values()) for (const connection of own) connection.terminate();
    heartbeats.stop();
  }

  function closeAll(code: CloseCode, reason: string): void {
    for (const own of byClient.values()) for (const connection of own) connection.close(code, reason);
  }

  return { open, metrics: describeStats(stats), closeAll, close };
}

function describeStats(stats: { open: number; opened: number; cut: number }): Metric[] {
  return [
    {
      name: "bursar_stream_open",
      help: "How many streams are open.",
      kind: "gauge",
      read: () => stats.open,
    },
    {
      name: "bursar_stream_opened_total",
      help: "How many streams have been opened.",
      kind: "counter",
      read: () => stats.opened,
    },
    {
      name: "bursar_stream_cut_total",
      help: "How many streams were ended because they read too slowly.",
      kind: "counter",
      read: () => stats.cut,
    },
  ];
}
