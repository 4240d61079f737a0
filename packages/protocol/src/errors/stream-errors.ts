import { type ErrorEntry, reportIt } from "./error-entry.js";

/** The errors of the live stream. */
export const streamErrors = {
  TICKET_INVALID: {
    status: 401,
    message: "The ticket is not valid.",
    when: "a stream ticket is malformed, older than 30 seconds, or already used",
    advice: "Get a new ticket for every connection.",
    forPeople: reportIt,
    retry: "never",
  },
  ORIGIN_NOT_ALLOWED: {
    status: 403,
    message: "This origin may not open a stream.",
    when: "a browser's `Origin` is neither the service's own nor one of `stream.allowed_origins`",
    advice: "Add the page's origin to the configuration.",
    forPeople: reportIt,
    retry: "never",
  },
  CHANNEL_UNKNOWN: {
    status: 404,
    message: "Unknown channel.",
    when: "a message names a channel that does not exist",
    advice: "Check the name against the guide on the stream.",
    forPeople: reportIt,
    retry: "never",
  },
  ALREADY_SUBSCRIBED: {
    status: 409,
    message: "The stream is already subscribed to this channel.",
    when: "a stream subscribes to a channel twice",
    advice: "To change the filters, unsubscribe first.",
    forPeople: reportIt,
    retry: "never",
  },
  NOT_SUBSCRIBED: {
    status: 409,
    message: "The stream is not subscribed to this channel.",
    when: "a stream unsubscribes from a channel that it is not subscribed to",
    advice: "Nothing needs to be done.",
    retry: "never",
  },
  SEQUENCE_AHEAD: {
    status: 422,
    message: "The log has no such sequence.",
    when: "`since` or `after` is ahead of the last event, or was lost: a standby has taken over, or the database was restored from a backup",
    advice:
      "Read the present state again, and go on from the sequence in the message, or subscribe without `since`.",
    forPeople: reportIt,
    retry: "never",
  },
  UPGRADE_REQUIRED: {
    status: 426,
    message: "This path requires a WebSocket.",
    when: "a request to `/v1/stream` is not an upgrade to WebSocket version 13",
    advice: "Use a WebSocket client.",
    forPeople: reportIt,
    retry: "never",
  },
  TOO_MANY_STREAMS: {
    status: 429,
    message: "The client has reached the maximum number of streams.",
    when: "the client has `stream.sockets_per_client` streams open on this process, or its tenant half of `stream.sockets`",
    advice: "Close one, or retry after `Retry-After` seconds.",
    forPeople: "Close tabs of this console that you do not need, or wait a moment.",
    retry: "later",
  },
  TOO_MANY_SUBSCRIPTIONS: {
    status: 429,
    message: "The stream has reached the maximum number of subscriptions.",
    when: "the stream has `stream.subscriptions_per_socket` subscriptions",
    advice: "Unsubscribe from a channel, or open another stream.",
    forPeople: reportIt,
    retry: "later",
  },
} as const satisfies Record<string, ErrorEntry>;
