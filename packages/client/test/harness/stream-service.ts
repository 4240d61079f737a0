import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type WebSocket, WebSocketServer } from "ws";

/** A stream as the service has it, over a log and a book that the test writes. Connections can be cut, and messages left out. */
export interface StreamService {
  url: string;
  /** Appends an event to the log; returns its sequence. */
  append: (event?: string) => number;
  /** Changes the book by one delta. */
  change: (side: "bids" | "asks", price: string, size: string) => void;
  book: () => { sequence: number; bids: [string, string][]; asks: [string, string][] };
  cut: () => void;
  /** Stops sending anything on the connections that are open, and leaves them open. */
  freeze: () => void;
  /** Leaves out the next message of a kind, as a faulty server would. */
  loseNext: (type: "event" | "delta") => void;
  /** Forgets the log up to a sequence. */
  forget: (sequence: number) => void;
  /** Starts another history: a log that ends at a sequence. */
  rewind: (sequence: number) => void;
  askToAuthenticate: () => void;
  connections: () => number;
  /** The messages that clients have sent. */
  received: { type: string; channel?: string; since?: number; token?: string }[];
  close: () => void;
}

interface Connection {
  socket: WebSocket;
  channels: Map<string, { kinds?: string[] }>;
  isFrozen: boolean;
}

export async function startStreamService(
  checksum: (asks: readonly [string, string][], bids: readonly [string, string][]) => number,
): Promise<StreamService> {
  let log: { sequence: number; event: string }[] = [];
  let sequence = 0;
  let oldest = 1;
  let epoch = 1;
  let bookSequence = 0;
  let connectionCount = 0;
  let lost: string | undefined;
  const sides = { bids: new Map<string, string>(), asks: new Map<string, string>() };
  const deltas: object[] = [];
  const connections = new Set<Connection>();
  const received: StreamService["received"] = [];

  const http = createServer((_request, response) =>
    response
      .writeHead(201, { "content-type": "application/json" })
      .end(JSON.stringify({ object: "stream_ticket", ticket: "ticket", expires_at: "" })),
  );
  const sockets = new WebSocketServer({ server: http, handleProtocols: () => "bursar.v1.json" });

  const levels = (side: "bids" | "asks"): [string, string][] =>
    [...sides[side]].sort(([one], [other]) =>
      side === "bids" ? Number(other) - Number(one) : Number(one) - Number(other),
    );
  const sum = () => checksum(levels("asks"), levels("bids"));

  function send(connection: Connection, message: { type: string; [field: string]: unknown }): void {
    if (lost === message.type) lost = undefined;
    else if (!connection.isFrozen) connection.socket.send(JSON.stringify(message));
  }

  function subscribe(
    connection: Connection,
    channel: string,
    since: number | undefined,
    filter: { kinds?: string[] },
  ): void {
    const reply = { type: "subscribed", channel };
    connection.channels.set(channel, filter);
    if (channel !== "events") {
      const missed = since === undefined ? undefined : deltas.slice(since);
      send(connection, { ...reply, recovered: missed !== undefined, sequence: since ?? bookSequence });
      if (missed === undefined)
        send(connection, {
          type: "snapshot",
          channel,
          sequence: bookSequence,
          bids: levels("bids"),
          asks: levels("asks"),
          checksum: sum(),
        });
      for (const delta of missed ?? []) send(connection, delta as { type: string });
      return;
    }
    if (since !== undefined && since > sequence) {
      connection.channels.delete(channel);
      send(connection, { type: "error", error: { code: "SEQUENCE_AHEAD", message: "ahead" } } as {
        type: string;
      });
      return;
    }
    const isRecovered = since === undefined || since >= oldest - 1;
    send(connection, {
      ...reply,
      recovered: isRecovered,
      sequence: since ?? sequence,
      ...(isRecovered ? {} : { oldest_sequence: oldest }),
    });
    if (since !== undefined && isRecovered)
      for (const event of log.filter((one) => one.sequence > since)) deliver(connection, event);
  }

  function deliver(connection: Connection, event: { sequence: number; event: string }): void {
    const filter = connection.channels.get("events");
    if (filter !== undefined && (filter.kinds?.includes(event.event) ?? true))
      send(connection, { type: "event", channel: "events", event });
  }

  sockets.on("connection", (socket) => {
    const connection: Connection = { socket, channels: new Map(), isFrozen: false };
    connections.add(connection);
    connectionCount += 1;
    socket.on("close", () => connections.delete(connection));
    socket.on("error", () => undefined);
    send(connection, { type: "hello", epoch: `epo_${epoch}`, heartbeat_interval_ms: 25_000 });
    socket.on("message", (data) => {
      const message = JSON.parse(String(data));
      received.push(message);
      if (message.type === "subscribe")
        subscribe(
          connection,
          message.channel,
          message.since,
          message.kinds === undefined ? {} : { kinds: message.kinds },
        );
      if (message.type === "unsubscribe") connection.channels.delete(message.channel);
    });
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));

  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    append: (event = "transaction.updated") => {
      sequence += 1;
      log.push({ sequence, event });
      for (const connection of connections) deliver(connection, { sequence, event });
      return sequence;
    },
    change: (side, price, size) => {
      if (size === "0") sides[side].delete(price);
      else sides[side].set(price, size);
      const previous = bookSequence;
      bookSequence += 1;
      const change = { bids: [], asks: [], [side]: [[price, size]] };
      const delta = {
        type: "delta",
        channel: "orderbook:ETH-USD",
        sequence: bookSequence,
        previous_sequence: previous,
        ...change,
        checksum: sum(),
      };
      deltas.push(delta);
      for (const connection of connections)
        if (connection.channels.has("orderbook:ETH-USD")) send(connection, delta);
    },
    book: () => ({ sequence: bookSequence, bids: levels("bids"), asks: levels("asks") }),
    cut: () => {
      for (const { socket } of connections) socket.terminate();
    },
    freeze: () => {
      for (const connection of connections) connection.isFrozen = true;
    },
    loseNext: (type) => {
      lost = type;
    },
    forget: (upTo) => {
      oldest = upTo + 1;
      log = log.filter((event) => event.sequence > upTo);
    },
    rewind: (to) => {
      epoch += 1;
      sequence = to;
      log = log.filter((event) => event.sequence <= to);
      for (const { socket } of connections) socket.close(4010);
    },
    askToAuthenticate: () => {
      for (const connection of connections) send(connection, { type: "reauthenticate" });
    },
    connections: () => connectionCount,
    received,
    close: () => {
      for (const { socket } of connections) socket.terminate();
      sockets.close();
      http.close();
      http.closeAllConnections();
    },
  };
}
