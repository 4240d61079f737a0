import type { Scope } from "@bursar/protocol";
import type { Logger } from "pino";
import type { RequestAuthenticator } from "../app/access/authenticate-request.js";
import type { AuditRecorder } from "../app/audit/audit-recorder.js";
import type { ReadMessage } from "./read-message.js";

/** What every stream needs, and all of them share. */
export interface StreamDeps {
  /** The scope that a token needs for any stream. */
  scope: Scope;
  authenticator: RequestAuthenticator;
  audit: Pick<AuditRecorder, "record">;
  readMessage: ReadMessage;
  limits: StreamLimits;
  isUnavailable: (error: unknown) => boolean;
  log: Logger;
  now: () => number;
  /** A clock that nobody can set back, for what is counted by time. */
  monotonicMs: () => number;
}

export interface StreamLimits {
  sockets: number;
  socketsPerClient: number;
  subscriptions: number;
  messageBytes: number;
  messagesPerSecond: number;
  bufferBytes: number;
  heartbeatMs: number;
  shutdownSpreadMs: number;
}
