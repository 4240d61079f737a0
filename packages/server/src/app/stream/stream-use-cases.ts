import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { Authenticated } from "../access/authenticate-request.js";
import type { IssueTicket } from "../access/stream-tickets.js";
import type { Refused } from "../requests/refused.js";

/** An authenticated request for the live stream, and its connection, on which a refusal can still be sent. */
export interface StreamOpening {
  request: IncomingMessage;
  authenticated: Authenticated;
  requestId: string;
  address: string;
  /** Takes over the connection: from now on only the caller reads it, writes to it and handles its errors. */
  takeSocket: () => { socket: Duplex; head: Buffer };
}

/** The use cases of the live stream. */
export interface StreamUseCases {
  issueStreamTicket: IssueTicket;
  /** Makes a stream of the connection, or returns why not; then the connection is not touched. */
  openStream: (opening: StreamOpening) => Refused | undefined;
}
