import type { TSchema } from "typebox";
import { createComponents } from "../components.js";
import { streamExamples } from "../examples/stream-examples.js";
import { apiVersion } from "../version.js";
import { Authenticate, SubscribeToEvents, Unsubscribe } from "./client-messages.js";
import { closeCodes } from "./close-codes.js";
import {
  DeltaMessage,
  SnapshotMessage,
  SubscribeToOrderbook,
  SubscribeToTrades,
  TradeMessage,
} from "./market-messages.js";
import {
  Authenticated,
  EventMessage,
  Heartbeat,
  Hello,
  Reauthenticate,
  StreamError,
  Subscribed,
  Unsubscribed,
} from "./server-messages.js";

/** The WebSocket subprotocol of the stream. */
export const streamProtocol = "bursar.v1.json";

interface Described {
  schema: TSchema;
  summary: string;
}

/** A new channel adds its messages here. */
const sentByClients: Record<string, Described> = {
  SubscribeToEvents: { schema: SubscribeToEvents, summary: "Follow the tenant's event log." },
  SubscribeToOrderbook: { schema: SubscribeToOrderbook, summary: "Follow the book of a market." },
  SubscribeToTrades: { schema: SubscribeToTrades, summary: "Follow the trades of a market." },
  Unsubscribe: { schema: Unsubscribe, summary: "Stop following a channel." },
  Authenticate: { schema: Authenticate, summary: "Continue with a new access token." },
};

const sentByService: Record<string, Described> = {
  Hello: { schema: Hello, summary: "The first message of every stream." },
  Subscribed: { schema: Subscribed, summary: "Confirms `subscribe`." },
  Unsubscribed: { schema: Unsubscribed, summary: "Confirms `unsubscribe`." },
  Event: { schema: EventMessage, summary: "One event, in order of its sequence." },
  Snapshot: {
    schema: SnapshotMessage,
    summary: "The best 1000 levels of each side. It replaces the client's copy.",
  },
  Delta: { schema: DeltaMessage, summary: "Changes among the best 1000 levels of each side." },
  Trade: { schema: TradeMessage, summary: "One trade, in order of its sequence." },
  Heartbeat: { schema: Heartbeat, summary: "Shows that the connection is alive." },
  Reauthenticate: { schema: Reauthenticate, summary: "The access token expires soon." },
  Authenticated: { schema: Authenticated, summary: "Confirms `authenticate`." },
  Error: { schema: StreamError, summary: "Why a message was refused. The stream stays open." },
};

/** The stream as AsyncAPI 3.0, from the schemas that validate the messages. */
export function asyncApiDocument(publicUrl: string): object {
  const [, scheme, host, pathname] = /^(\w+):\/\/([^/]+)(.*)$/.exec(publicUrl) ?? [];
  const { schemas, reference } = createComponents();
  const all = { ...sentByClients, ...sentByService };
  const messages = mapValues(all, ({ schema, summary }, name) => ({
    name,
    summary,
    contentType: "application/json",
    payload: reference(schema),
    examples: examplesOf(name),
  }));
  return {
    asyncapi: "3.0.0",
    info: {
      title: "Bursar stream",
      version: apiVersion,
      description: `Live events over a WebSocket with the subprotocol \`${streamProtocol}\`.\n\n${closeCodeTable()}`,
      license: { name: "Apache-2.0", url: "https://www.apache.org/licenses/LICENSE-2.0" },
      tags: [
        { name: "Events", description: "The event log." },
        { name: "Markets", description: "Order books and trades." },
      ],
      externalDocs: { description: "The guide on the stream", url: `${publicUrl}/docs/guides/stream` },
    },
    defaultContentType: "application/json",
    servers: {
      bursar: {
        description: "This service.",
        host,
        ...(pathname ? { pathname } : {}),
        protocol: scheme === "https" ? "wss" : "ws",
        security: [
          { $ref: "#/components/securitySchemes/bearer" },
          { $ref: "#/components/securitySchemes/ticket" },
        ],
      },
    },
    channels: {
      stream: {
        address: "/v1/stream",
        description:
          "One WebSocket carries all subscriptions of a client: its event log, order books and trades.",
        messages: mapValues(all, (_, name) => ({ $ref: `#/components/messages/${name}` })),
        bindings: { ws: { method: "GET" } },
      },
    },
    // From the service's side, as AsyncAPI requires: it receives what clients send.
    operations: {
      receiveFromClient: operation("receive", sentByClients, {
        summary: "What a client may send.",
        description:
          "Messages are JSON text. Each is answered, in order; the answer carries the `id` of the message.",
      }),
      sendToClient: operation("send", sentByService, {
        summary: "What the service sends.",
        description: "Ignore messages and fields that you do not know: new ones may be added.",
      }),
    },
    components: {
      messages,
      schemas,
      securitySchemes: {
        bearer: { type: "http", scheme: "bearer", description: "Requires the scope `events:read`." },
        ticket: {
          type: "httpApiKey",
          in: "query",
          name: "ticket",
          description: "A ticket of `POST /v1/stream/tickets`: valid for 30 seconds and one use.",
        },
      },
    },
  };
}

/** A message without an example fails the test of this document, which says where to add one. */
function examplesOf(name: string): object[] {
  const example = streamExamples[name];
  return example === undefined ? [] : [{ name, payload: example.value }];
}

function operation(
  action: "send" | "receive",
  messages: Record<string, Described>,
  about: { summary: string; description: string },
): object {
  return {
    action,
    ...about,
    channel: { $ref: "#/channels/stream" },
    messages: Object.keys(messages).map((name) => ({ $ref: `#/channels/stream/messages/${name}` })),
  };
}

function closeCodeTable(): string {
  const rows = Object.entries(closeCodes).map(
    ([code, { meaning, advice }]) => `| ${code} | ${meaning} | ${advice} |`,
  );
  return ["| close code | meaning | what to do |", "|---|---|---|", ...rows].join("\n");
}

function mapValues<From, To>(
  record: Record<string, From>,
  change: (value: From, name: string) => To,
): Record<string, To> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value, name)]));
}
