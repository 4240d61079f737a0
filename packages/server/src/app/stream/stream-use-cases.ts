import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { Authenticated } from "../access/authenticate-request.js";
import type { IssueTicket } from "../access/stream-tickets.js";
import type { Refused } from "../requests/refused.js";

/** A request for the live stream that has been let in, and its connection, which it still answers on. */
export interface StreamOpening {
  request: IncomingMessage;
  authenticated: Authenticated;
  requestId: string;
  address: string;
  /** Takes the connection over: from here on nobody else reads it, writes it, or looks after its errors. */
  takeSocket: () => { socket: Duplex; head: Buffer };
}

/** What can be asked of the live stream. */
export interface StreamUseCases {
  issueStreamTicket: IssueTicket;
  /** Makes a stream of the connection, or says why not; then the connection is not touched. */
  openStream: (opening: StreamOpening) => Refused | undefined;
}
