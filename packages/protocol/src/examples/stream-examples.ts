import { transactionEvent } from "./event-examples.js";
import type { Examples } from "./example.js";
import { exampleIds } from "./example-ids.js";
import { bookLevels, trade } from "./market-examples.js";

const time = "2026-11-16T09:30:00.000Z";
const book = "orderbook:ETH-USD";
const trades = "trades:ETH-USD";

/** The messages of the stream, by their names in the AsyncAPI document. */
export const streamExamples: Examples = {
  SubscribeToEvents: {
    value: { type: "subscribe", id: "1", channel: "events", since: 1041, kinds: ["transaction.updated"] },
  },
  SubscribeToOrderbook: { value: { type: "subscribe", id: "2", channel: book } },
  SubscribeToTrades: { value: { type: "subscribe", id: "3", channel: trades, since: 4711 } },
  Unsubscribe: { value: { type: "unsubscribe", id: "4", channel: book } },
  Authenticate: {
    value: {
      type: "authenticate",
      id: "5",
      token:
        "eyJhbGciOiJFZERTQSIsInR5cCI6ImF0K2p3dCJ9.eyJzdWIiOiJjbGlfMDFtNGF2NWpkOGVqN3RjMHpwM3EwM2RkZTUifQ.c2ln",
    },
  },
  Hello: {
    value: {
      type: "hello",
      connection_id: exampleIds.connection,
      server_time: time,
      epoch: exampleIds.epoch,
      heartbeat_interval_ms: 25_000,
      expires_at: "2026-11-16T09:40:00.000Z",
      limits: {
        message_bytes: 16_384,
        messages_per_second: 10,
        subscriptions: 32,
        buffer_bytes: 1_048_576,
      },
    },
  },
  Subscribed: {
    value: { type: "subscribed", id: "1", channel: "events", recovered: true, sequence: 1041 },
  },
  Unsubscribed: { value: { type: "unsubscribed", id: "4", channel: book } },
  Event: { value: { type: "event", channel: "events", event: transactionEvent } },
  Snapshot: {
    value: {
      type: "snapshot",
      channel: book,
      market: "ETH-USD",
      sequence: 88_214,
      as_of: time,
      ...bookLevels,
      source: "bursar",
    },
  },
  Delta: {
    value: {
      type: "delta",
      channel: book,
      sequence: 88_215,
      previous_sequence: 88_214,
      as_of: time,
      bids: [["2998", "0"]],
      asks: [["3001", "0.5"]],
      checksum: 1_758_266_922,
    },
  },
  Trade: { value: { type: "trade", channel: trades, trade } },
  Heartbeat: { value: { type: "heartbeat", server_time: time } },
  Reauthenticate: { value: { type: "reauthenticate", expires_at: "2026-11-16T09:40:00.000Z" } },
  Authenticated: {
    value: { type: "authenticated", id: "5", expires_at: "2026-11-16T09:55:00.000Z" },
  },
  Error: {
    value: {
      type: "error",
      id: "2",
      error: {
        code: "MARKET_NOT_FOUND",
        message: "The market does not exist.",
        request_id: exampleIds.request,
        doc_url: "https://bursar.example/docs/reference/errors#MARKET_NOT_FOUND",
      },
    },
  },
};
