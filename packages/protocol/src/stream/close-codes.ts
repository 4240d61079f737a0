/** Why the service closes a stream. Codes below 4000 are registered with IANA; of the others, those from 4400 on end in the corresponding HTTP status. */
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
  1012: {
    meaning: "The database has restarted.",
    advice: "Reconnect and resume.",
  },
  1013: {
    meaning: "The client reads too slowly: more than `limits.buffer_bytes` were buffered.",
    advice: "Reconnect and resume; read faster, or subscribe to less.",
  },
  4010: {
    meaning:
      "The database was replaced by a standby or restored from a backup (`epoch_changed`). Events that were sent may be lost, and their sequences used again.",
    advice:
      "Reconnect, compare `epoch` in `hello`, and read what you hold again before you resume: see the guide on the stream.",
  },
  4401: {
    meaning: "The token expired or was revoked, or its client was disabled.",
    advice: "Reconnect with a new token and resume.",
  },
  4429: {
    meaning:
      "The client sent more messages than `limits.messages_per_second` allows, or faster than it was answered.",
    advice: "Reconnect after a pause, and send less.",
  },
} as const satisfies Record<number, { meaning: string; advice: string }>;

export type CloseCode = keyof typeof closeCodes;
