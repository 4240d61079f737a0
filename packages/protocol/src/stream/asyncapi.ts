import type { TSchema } from "typebox";
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

/** The subprotocol that the stream speaks. */
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
  Authenticate: { schema: Authenticate, summary: "Go on with a new access token." },
};

const sentByService: Record<string, Described> = {
  Hello: { schema: Hello, summary: "The first message of every stream." },
  Subscribed: { schema: Subscribed, summary: "Answers `subscribe`; what was asked for follows." },
  Unsubscribed: { schema: Unsubscribed, summary: "Answers `unsubscribe`; nothing follows." },
  Event: { schema: EventMessage, summary: "One event, in order of its sequence." },
  Snapshot: {
    schema: SnapshotMessage,
    summary: "The best 1000 levels of each side; it replaces what the client has.",
  },
  Delta: { schema: DeltaMessage, summary: "What has changed among the best 1000 levels of each side." },
  Trade: { schema: TradeMessage, summary: "One trade, in order of its sequence." },
  Heartbeat: { schema: Heartbeat, summary: "A sign of life." },
  Reauthenticate: { schema: Reauthenticate, summary: "The access token ends soon." },
  Authenticated: { schema: Authenticated, summary: "Answers `authenticate`." },
  Error: { schema: StreamError, summary: "Says why a message was refused; the stream goes on." },
};

/** The stream as AsyncAPI 3.0, from the same schemas that check the messages. */
export function asyncApiDocument(publicUrl: string): object {
  const [, scheme, host, pathname] = /^(\w+):\/\/([^/]+)(.*)$/.exec(publicUrl) ?? [];
  const schemas: Record<string, unknown> = {};
  const all = { ...sentByClients, ...sentByService };
  const messages = mapValues(all, ({ schema, summary }, name) => ({
    name,
    summary,
    contentType: "application/json",
    payload: withReferences(schema, schemas),
  }));
  return {
    asyncapi: "3.0.0",
    info: {
      title: "Bursar stream",
      version: apiVersion,
      description: `Live events over a WebSocket with the subprotocol \`${streamProtocol}\`.\n\n${closeCodeTable()}`,
      license: { name: "Apache-2.0" },
    },
    defaultContentType: "application/json",
    servers: {
      bursar: {
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
        messages: mapValues(all, (_, name) => ({ $ref: `#/components/messages/${name}` })),
        bindings: { ws: { method: "GET" } },
      },
    },
    // From the application's side, as AsyncAPI has it: what it receives is what clients send.
    operations: {
      receiveFromClient: operation("receive", sentByClients),
      sendToClient: operation("send", sentByService),
    },
    components: {
      messages,
      schemas,
      securitySchemes: {
        bearer: { type: "http", scheme: "bearer", description: "With the scope `events:read`." },
        ticket: {
          type: "httpApiKey",
          in: "query",
          name: "ticket",
          description: "Of `POST /v1/stream/tickets`: 30 seconds, one use.",
        },
      },
    },
  };
}

function operation(action: "send" | "receive", messages: Record<string, Described>): object {
  return {
    action,
    channel: { $ref: "#/channels/stream" },
    messages: Object.keys(messages).map((name) => ({ $ref: `#/channels/stream/messages/${name}` })),
  };
}

/** A copy in which every schema with a name of its own has moved to the components. */
function withReferences(node: unknown, schemas: Record<string, unknown>): unknown {
  if (Array.isArray(node)) return node.map((item) => withReferences(item, schemas));
  if (typeof node !== "object" || node === null) return node;
  const { $id, ...rest } = node as Record<string, unknown>;
  const copy = mapValues(rest, (value) => withReferences(value, schemas));
  if (typeof $id !== "string") return copy;
  schemas[$id] = copy;
  return { $ref: `#/components/schemas/${$id}` };
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
