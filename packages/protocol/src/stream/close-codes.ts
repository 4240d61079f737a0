/** Why the service ends a stream. The codes below 4000 are those of RFC 6455; the others end in the HTTP status they resemble. */
export const closeCodes = {
  1001: { meaning: "The service is going away.", advice: "Reconnect; another process takes over." },
  1002: { meaning: "What came is not WebSocket as RFC 6455 has it.", advice: "Correct the client." },
  1003: { meaning: "A binary message came; messages are text.", advice: "Correct the client." },
  1007: { meaning: "A message is not UTF-8.", advice: "Correct the client." },
  1008: {
    meaning:
      "Too many messages were wrong, a message came in too many parts, or the token no longer allows what was subscribed.",
    advice: "Correct the client, or its scopes, before it reconnects.",
  },
  1009: { meaning: "A message is larger than `limits.message_bytes`.", advice: "Send smaller messages." },
  1011: { meaning: "The service failed.", advice: "Reconnect and resume." },
  1013: {
    meaning: "The client reads too slowly: more than `limits.buffer_bytes` waited for it.",
    advice: "Reconnect and resume; read faster, or subscribe to less.",
  },
  4401: {
    meaning: "The token has expired or was revoked, or its client was disabled.",
    advice: "Reconnect with a new token and resume.",
  },
  4429: {
    meaning: "More messages came than `limits.messages_per_second` allows.",
    advice: "Reconnect after a while, and send less.",
  },
} as const satisfies Record<number, { meaning: string; advice: string }>;

export type CloseCode = keyof typeof closeCodes;
