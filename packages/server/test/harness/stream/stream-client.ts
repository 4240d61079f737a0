import { once } from "node:events";
import { type IncomingHttpHeaders, type IncomingMessage, request } from "node:http";
import type { ErrorBody, Event } from "@bursar/protocol";
import { WebSocket } from "ws";
import { eventually } from "../eventually.js";

/** A message of the stream, with whatever fields its type has. */
interface StreamMessage {
  type: string;
  id?: string;
  channel?: string;
  event: Event;
  error: ErrorBody["error"];
  recovered?: boolean;
  sequence?: number;
  oldest_sequence?: number;
  expires_at: string;
  [field: string]: unknown;
}

export interface StreamClient {
  ws: WebSocket;
  /** Everything that has come, in order. */
  messages: StreamMessage[];
  send: (message: unknown) => void;
  /** The first message of a type that has come or comes, after those that were waited for before. A refusal that came instead is thrown. */
  next: (type: string) => Promise<StreamMessage>;
  /** The sequences of the events that have come. */
  sequences: () => number[];
  closed: Promise<{ code: number; reason: string }>;
}

export interface StreamClientOptions {
  token?: string;
  ticket?: string;
  headers?: Record<string, string>;
}

function dial(url: string, { token, ticket, headers = {} }: StreamClientOptions): WebSocket {
  const address = new URL("/v1/stream", url.replace(/^http/, "ws"));
  if (ticket !== undefined) address.searchParams.set("ticket", ticket);
  return new WebSocket(address, ["bursar.v1.json"], {
    headers: { ...(token === undefined ? {} : { authorization: `Bearer ${token}` }), ...headers },
  });
}

/** A stream that is open, and has said hello. */
export async function openStream(url: string, options: StreamClientOptions): Promise<StreamClient> {
  const ws = dial(url, options);
  const messages: StreamMessage[] = [];
  let taken = 0;
  ws.on("message", (data) => messages.push(JSON.parse(String(data))));
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    ws.once("close", (code, reason) => resolve({ code, reason: String(reason) }));
  });
  await once(ws, "open");
  ws.on("error", () => undefined);
  const next = async (type: string) => {
    const find = () => messages.findIndex((message, index) => index >= taken && message.type === type);
    const refusal = () => messages.slice(taken).find((message) => message.type === "error");
    const index = await eventually(find, (found) => {
      const refused = found < 0 ? refusal() : undefined;
      if (refused !== undefined) throw new Error(`no ${type} but ${JSON.stringify(refused.error)}`);
      return found >= 0;
    });
    taken = index + 1;
    return messages[index] as StreamMessage;
  };
  await next("hello");
  return {
    ws,
    messages,
    send: (message) => ws.send(typeof message === "string" ? message : JSON.stringify(message)),
    next,
    sequences: () => messages.filter(({ type }) => type === "event").map(({ event }) => event.sequence),
    closed,
  };
}

/** The answer to a stream that was refused. The request is made by hand, so that every header can be wrong. */
export async function refusedStream(
  url: string,
  { token, ticket, headers = {} }: StreamClientOptions,
): Promise<{ status: number; headers: IncomingHttpHeaders; error: ErrorBody["error"] }> {
  const call = request(`${url}/v1/stream${ticket === undefined ? "" : `?ticket=${ticket}`}`, {
    headers: {
      connection: "Upgrade",
      upgrade: "websocket",
      "sec-websocket-version": "13",
      "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
      "sec-websocket-protocol": "bursar.v1.json",
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...headers,
    },
  }).end();
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    call.once("response", resolve).once("error", reject);
    call.once("upgrade", (_response, socket) => {
      socket.destroy();
      reject(new Error("the stream was not refused"));
    });
  });
  const { error } = JSON.parse(Buffer.concat(await response.toArray()).toString()) as ErrorBody;
  return { status: response.statusCode ?? 0, headers: response.headers, error };
}
