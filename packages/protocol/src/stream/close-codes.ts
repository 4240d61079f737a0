/** Why the service closes a stream. Codes below 4000 are from RFC 6455; the others end in the corresponding HTTP status. */
export const closeCodes = {
  1001: { meaning: "The service is shutting down.", advice: "Reconnect; another process takes over." },
  1002: { meaning: "The client violated the WebSocket protocol (RFC 6455).", advice: "Fix the client." },
  1003: { meaning: "The client sent a binary message; messages are text.", advice: "Fix the client." },
  1007: { meaning: "A message is not UTF-8.", advice: "Fix the client." },
  1008: {
    meaning:
      "The client sent too many invalid messages or a message in too many fragments, or the token no longer allows a subscription.",
    advice: "Fix the client, or its scopes, before reconnecting.",
  },
  1009: { meaning: "A message is larger than `limits.message_bytes`.", advice: "Send smaller messages." },
  1011: { meaning: "The service failed.", advice: "Reconnect and resume." },
  1013: {
    meaning: "The client reads too slowly: more than `limits.buffer_bytes` were buffered.",
    advice: "Reconnect and resume; read faster, or subscribe to less.",
  },
  4401: {
    meaning: "The token expired or was revoked, or its client was disabled.",
    advice: "Reconnect with a new token and resume.",
  },
  4429: {
    meaning: "The client sent more messages than `limits.messages_per_second` allows.",
    advice: "Reconnect after a pause, and send less.",
  },
} as const satisfies Record<number, { meaning: string; advice: string }>;

export type CloseCode = keyof typeof closeCodes;
