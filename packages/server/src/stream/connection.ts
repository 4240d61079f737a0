import type { Duplex } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { CloseCode, Hello } from "@bursar/protocol";
import type { WebSocket } from "ws";
import type { Authenticated } from "../app/access/authenticate-request.js";
import type { ApiClient } from "../app/clients/client.js";
import { costOfBytes, requestCost } from "../app/quotas/take-quota.js";
import { createMessageHandler } from "./message-handler.js";
import { createSession } from "./session.js";
import type { StreamDeps } from "./stream-deps.js";
import { createSubscriptions } from "./subscriptions.js";
import { textFrame } from "./text-frames.js";

/** One open stream. */
export interface Connection {
  clientId: string;
  /** Pings the client and sends it the heartbeat; ends the stream if two pings were not answered. */
  beat: (heartbeat: Buffer) => void;
  /** Ends the stream if its token is no longer sufficient. */
  review: () => Promise<void> | undefined;
  close: (code: CloseCode, reason: string) => void;
  /** Ends the stream without a close frame. */
  terminate: () => void;
}

export interface ConnectionOptions {
  id: string;
  ws: WebSocket;
  socket: Duplex;
  authenticated: Authenticated;
  requestId: string;
  address: string;
  onClosed: (code: number) => void;
}

const missedPongsMax = 2;

export function createConnection(options: ConnectionOptions, deps: StreamDeps): Connection {
  const { ws, socket, requestId } = options;
  const { limits, log } = deps;
  const { tenantId, clientId } = options.authenticated.principal;
  let missedPongs = 0;
  let ownCode: CloseCode | undefined;

  const isOpen = () => ws.readyState === ws.OPEN;
  const outbox = createOutbox({
    socket,
    bufferBytesMax: limits.bufferBytes,
    isOpen,
    onFull: () => {
      log.info(
        { request_id: requestId, connection_id: options.id },
        "A stream was closed because its client reads too slowly.",
      );
      close(1013, "too slow");
    },
  });
  const send = (message: object) => outbox.send(textFrame(JSON.stringify(message)));
  const fail = (error: Error) => {
    log.error({ err: error, request_id: requestId }, "A stream failed.");
    // Nothing is sent after what could not be sent.
    subscriptions.stopAll();
    const end = () => close(1011, "try again");
    deps.checkEpoch().then(end, end);
  };
  const room = createHistoryPace(outbox.room, () => session.client(), deps);
  const subscriber = { tenantId, clientId, send: outbox.send, room, fail };
  const subscriptions = createSubscriptions(subscriber, limits.subscriptions);
  const session = createSession({ ...options, send, close, subscriptions }, deps);
  const messages = createMessageHandler(
    { requestId, session, subscriptions, send, bytesSent: outbox.bytesSent, close },
    deps,
  );

  function close(code: CloseCode, reason: string): void {
    if (ownCode !== undefined) return;
    ownCode = code;
    subscriptions.stopAll();
    messages.clear();
    ws.close(code, reason);
  }

  /**
   * A client that still sends when its stream was closed is not read any more. The library would go on for 5 seconds, until the client answers
   * with a close frame: eight clients that sent pings without end stopped the process for 17 s.
   */
  const isClosed = () => {
    if (ownCode !== undefined) ws.pause();
    return ownCode !== undefined;
  };

  ws.on("message", (data: Buffer, isBinary: boolean) => {
    if (!isClosed() && isOpen()) messages.receive(data, isBinary);
  });
  ws.on("ping", () => {
    if (!isClosed()) messages.receivePing();
  });
  ws.on("pong", () => {
    if (isClosed()) return;
    // One that answers no ping of ours counts like a message.
    if (missedPongs === 0) messages.receivePing();
    missedPongs = 0;
  });
  // The library ends the stream with the right code after a protocol error; there is nothing left to do.
  ws.on("error", () => undefined);
  ws.on("close", (code) => {
    subscriptions.stopAll();
    messages.clear();
    // If the service has ended it, its code is the reason, whether or not the client still answered.
    options.onClosed(ownCode ?? code);
  });
  send(hello(options.id, session.expiresAt(), deps));

  return {
    clientId,
    beat: (heartbeat) => {
      if (missedPongs >= missedPongsMax) {
        ws.terminate();
        return;
      }
      missedPongs += 1;
      if (!isOpen()) return;
      ws.ping();
      outbox.send(heartbeat);
    },
    review: session.review,
    close,
    terminate: () => ws.terminate(),
  };
}

function hello(connectionId: string, expiresAt: string, { limits, epoch, now }: StreamDeps): Hello {
  return {
    type: "hello",
    connection_id: connectionId,
    server_time: new Date(now()).toISOString(),
    epoch: epoch(),
    heartbeat_interval_ms: limits.heartbeatMs,
    expires_at: expiresAt,
    limits: {
      message_bytes: limits.messageBytes,
      messages_per_second: limits.messagesPerSecond,
      subscriptions: limits.subscriptions,
      buffer_bytes: limits.bufferBytes,
    },
  };
}

/** Read from the log for a page, also if a filter leaves all of it out: 200 events cost a fifth of a token, as in a list. */
const pageBytes = 1638;
/** One that has to wait for longer asks again: a quota can be changed, and the stream can end. */
const payPauseMs = { min: 20, max: 1000 };
/** One that has waited for so long takes what its tenant has, so that clients that read all the time do not stop it altogether. */
const patienceMs = 10_000;

/**
 * History costs what a list of it costs. It is sent no faster than the quotas of the client and its tenant allow, instead of being refused:
 * otherwise a client could have its whole log read and sent again and again for one message, and one that resumes after long would get
 * nothing else. It never brings the tenant's quota into debt, because that would refuse the requests of other clients.
 */
function createHistoryPace(
  room: () => Promise<boolean>,
  client: () => ApiClient,
  {
    chargeQuota,
    takeSpareQuota,
    monotonicMs,
  }: Pick<StreamDeps, "chargeQuota" | "takeSpareQuota" | "monotonicMs">,
): (historyBytes: number) => Promise<boolean> {
  const { bytesPerToken } = requestCost;
  let unpaidBytes = 0;
  return async (historyBytes) => {
    unpaidBytes += historyBytes + pageBytes;
    const beganMs = monotonicMs();
    for (;;) {
      const hasRoom = await room();
      const cost = costOfBytes(unpaidBytes);
      if (!hasRoom) {
        unpaidBytes = 0;
        if (cost > 0) chargeQuota(client(), cost * bytesPerToken);
        return false;
      }
      if (cost === 0) return true;
      const { taken, waitMs } = takeSpareQuota(client(), cost, monotonicMs() - beganMs < patienceMs);
      unpaidBytes -= taken * bytesPerToken;
      if (taken === cost) return true;
      const pauseMs = Math.max(payPauseMs.min, Math.min(waitMs, payPauseMs.max));
      await sleep(pauseMs, undefined, { ref: false });
    }
  };
}

/** The frames that wait to be written to one socket, up to a bound. */
interface Outbox {
  bytesSent: () => number;
  send: (frames: Buffer) => void;
  room: () => Promise<boolean>;
}

interface OutboxDeps {
  socket: Duplex;
  bufferBytesMax: number;
  isOpen: () => boolean;
  onFull: () => void;
}

function createOutbox({ socket, bufferBytesMax, isOpen, onFull }: OutboxDeps): Outbox {
  let bytesSent = 0;
  return {
    bytesSent: () => bytesSent,
    // The frames go to the socket itself, past the library's sender: it would build the header again for each socket.
    // That is safe because nothing is compressed, so that the sender never holds anything back.
    send: (frames) => {
      if (!isOpen()) return;
      bytesSent += frames.length;
      socket.write(frames);
      if (socket.writableLength > bufferBytesMax) onFull();
    },
    room: async () => {
      if (isOpen() && socket.writableLength > bufferBytesMax / 4) {
        await new Promise<void>((resolve) => {
          const done = () => {
            socket.off("drain", done).off("close", done);
            resolve();
          };
          socket.once("drain", done).once("close", done);
        });
      }
      return isOpen();
    },
  };
}
