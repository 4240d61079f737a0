import type { ErrorEntry } from "./error-entry.js";

/** The part of the error catalog that is about the live stream. */
export const streamErrors = {
  TICKET_INVALID: {
    status: 401,
    message: "The ticket is not valid.",
    when: "a stream's ticket is malformed, older than 30 seconds, or was used before",
    advice: "Get a new ticket for every connection.",
    retry: "never",
  },
  ORIGIN_NOT_ALLOWED: {
    status: 403,
    message: "Pages of this origin may not open a stream.",
    when: "a browser's `Origin` is neither the service's own nor one of `stream.allowed_origins`",
    advice: "Add the page's origin to the configuration.",
    retry: "never",
  },
  CHANNEL_UNKNOWN: {
    status: 404,
    message: "There is no such channel.",
    when: "a stream's message names a channel that does not exist",
    advice: "Compare the name with the guide on the stream.",
    retry: "never",
  },
  ALREADY_SUBSCRIBED: {
    status: 409,
    message: "The stream is subscribed to this channel already.",
    when: "a stream subscribes twice to one channel",
    advice: "Unsubscribe first, to change the filters.",
    retry: "never",
  },
  NOT_SUBSCRIBED: {
    status: 409,
    message: "The stream is not subscribed to this channel.",
    when: "a stream unsubscribes from a channel that it does not follow",
    advice: "Nothing is left to do.",
    retry: "never",
  },
  SEQUENCE_AHEAD: {
    status: 422,
    message: "The log does not reach that far.",
    when: "`since` is ahead of the tenant's last event, as after the database was restored from a backup",
    advice: "Read the state anew, and subscribe without `since`.",
    retry: "never",
  },
  UPGRADE_REQUIRED: {
    status: 426,
    message: "This path speaks WebSocket.",
    when: "a request to `/v1/stream` does not ask for an upgrade to WebSocket, version 13",
    advice: "Use a WebSocket client.",
    retry: "never",
  },
  TOO_MANY_STREAMS: {
    status: 429,
    message: "The client has as many streams open as a client may have.",
    when: "a client would have more than `stream.sockets_per_client` streams on one process",
    advice: "Close one, or retry after `Retry-After` seconds.",
    retry: "later",
  },
  TOO_MANY_SUBSCRIPTIONS: {
    status: 429,
    message: "The stream is subscribed to as many channels as it may be.",
    when: "a stream would have more than `stream.subscriptions_per_socket` subscriptions",
    advice: "Unsubscribe from a channel, or open another stream.",
    retry: "later",
  },
} as const satisfies Record<string, ErrorEntry>;
