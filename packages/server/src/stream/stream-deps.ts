import type { Scope } from "@bursar/protocol";
import type { Logger } from "pino";
import type { RequestAuthenticator } from "../app/access/authenticate-request.js";
import type { AuditRecorder } from "../app/audit/audit-recorder.js";
import type { ApiClient } from "../app/clients/client.js";
import type { MessageRoom } from "./message-room.js";
import type { ReadMessage } from "./read-message.js";

/** What all streams share. */
export interface StreamDeps {
  /** The scope that a token needs for any stream. */
  scope: Scope;
  authenticator: RequestAuthenticator;
  audit: Pick<AuditRecorder, "record">;
  readMessage: ReadMessage;
  room: MessageRoom;
  /** Takes what a message of so many characters costs from the quotas of its client and tenant. 0 admits it. */
  takeQuota: (client: ApiClient, length: number) => Promise<number>;
  /** Charges bytes that were sent to answer a message. */
  chargeQuota: (client: ApiClient, bytes: number) => void;
  /** Takes tokens that the quotas of the client and its tenant can spare. If there are none, the time to wait for some. */
  takeSpareQuota: (client: ApiClient, cost: number, leavesHalf: boolean) => { taken: number; waitMs: number };
  limits: StreamLimits;
  /** The address of the service, for links to the error reference. */
  publicUrl: string;
  isUnavailable: (error: unknown) => boolean;
  /**
   * Looks which database it is; if it is in a new epoch, all streams are closed with that code. A stream that is about to end asks first,
   * because a restore and `bursar recover` also end tokens and connections, and the client should know the real reason.
   */
  checkEpoch: () => Promise<void>;
  /** The epoch of the database, as clients see it. */
  epoch: () => string;
  log: Logger;
  now: () => number;
  /** The monotonic clock, for rates and deadlines. */
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
