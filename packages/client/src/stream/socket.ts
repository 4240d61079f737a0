import { BursarError } from "../errors/bursar-error.js";
import type { CallOptions } from "../transport/options.js";
import type { Transport } from "../transport/transport.js";
import { createMessageQueue, type MessageQueue } from "./message-queue.js";

/** A message of the stream; each type has its own fields. */
export interface StreamMessage {
  type: string;
  channel?: string;
  [field: string]: unknown;
}

/** What both `WebSocket` of the platform and that of `ws` have. */
export interface SocketLike {
  onopen: unknown;
  onmessage: unknown;
  onclose: unknown;
  onerror: unknown;
  send: (data: string) => void;
  close: (code?: number) => void;
}

export type SocketConstructor = new (url: string, protocols: string[]) => SocketLike;

/** An open stream that has said hello. */
export interface StreamSocket {
  epoch: string;
  send: (message: object) => void;
  /** The next message; undefined when the stream has ended. */
  next: () => Promise<StreamMessage | undefined>;
  /** Why it was closed: the code of the service, or 1006 if the connection was lost. */
  closeCode: () => number | undefined;
  close: () => void;
}

const heartbeatsMissed = 2;
const helloMs = 15_000;

/** Opens a stream with a ticket, which every platform can send, and keeps its token fresh. */
export async function openSocket(transport: Transport, options: CallOptions): Promise<StreamSocket> {
  const { runtime, baseUrl } = transport;
  const Socket = transport.WebSocket ?? (await loadWebSocket());
  const { ticket } = await transport.call("POST /v1/stream/tickets", { repeatable: true }, options);
  const url = `${baseUrl.replace(/^http/, "ws")}/v1/stream?ticket=${encodeURIComponent(ticket)}`;
  const socket = new Socket(url, ["bursar.v1.json"]);
  const messages: MessageQueue<StreamMessage> = createMessageQueue();
  let closeCode: number | undefined;
  let silenceMs = helloMs;
  let cancelWatch = () => {};

  function end(code: number): void {
    if (closeCode !== undefined) return;
    closeCode = code;
    cancelWatch();
    options.signal?.removeEventListener("abort", onAbort);
    messages.end();
    socket.close();
  }
  const onAbort = () => end(1000);
  const watch = () => {
    cancelWatch();
    cancelWatch = runtime.schedule(silenceMs, () => end(1006));
  };

  async function authenticate(): Promise<void> {
    const stale = await transport.token(options);
    socket.send(
      JSON.stringify({ type: "authenticate", token: await transport.token({ ...options, stale }) }),
    );
  }

  socket.onmessage = ({ data }: { data: unknown }) => {
    if (closeCode !== undefined) return;
    watch();
    const message = readMessage(String(data));
    if (message === undefined) {
      end(1007);
      return;
    }
    if (message.type === "hello")
      silenceMs = heartbeatsMissed * Number(message["heartbeat_interval_ms"] ?? helloMs);
    if (message.type === "reauthenticate") authenticate().catch(() => end(4401));
    // A reader that does not keep up reads the rest again later, instead of filling the memory.
    else if (message.type !== "heartbeat" && !messages.push(message)) end(1013);
  };
  socket.onclose = ({ code }: { code: number }) => end(code);
  socket.onerror = () => end(1006);
  options.signal?.addEventListener("abort", onAbort, { once: true });
  if (options.signal?.aborted) onAbort();
  watch();

  const hello = await messages.next();
  if (hello?.type !== "hello") {
    end(1006);
    throw lost();
  }
  return {
    epoch: String(hello["epoch"]),
    send: (message) => socket.send(JSON.stringify(message)),
    next: messages.next,
    closeCode: () => closeCode,
    close: () => end(1000),
  };
}

/** Undefined if it is no message: what a hostile service sends must not end the program. */
function readMessage(data: string): StreamMessage | undefined {
  try {
    const message: unknown = JSON.parse(data);
    const isMessage = typeof message === "object" && message !== null && "type" in message;
    return isMessage && typeof message.type === "string" ? (message as StreamMessage) : undefined;
  } catch {
    return undefined;
  }
}

function lost(): BursarError<"CONNECTION_FAILED"> {
  return new BursarError({
    code: "CONNECTION_FAILED",
    message: "The stream was closed before it was ready.",
    outcome: "not_sent",
    attempts: 1,
  });
}

async function loadWebSocket(): Promise<SocketConstructor> {
  if (globalThis.WebSocket !== undefined) return globalThis.WebSocket as unknown as SocketConstructor;
  try {
    return (await import("#ws")).WebSocket as unknown as SocketConstructor;
  } catch (cause) {
    throw new BursarError({
      code: "WEBSOCKET_MISSING",
      message: "This platform has no WebSocket. Install the package ws, or use Node 22 or newer.",
      outcome: "not_sent",
      attempts: 0,
      cause,
    });
  }
}
