import type { Scope, Subscribed } from "@bursar/protocol";
import type { TSchema } from "typebox";
import type { Refused } from "../app/requests/refused.js";

/**
 * Something that a stream can be subscribed to. A new one is a file of its own that implements this, a line in the list of
 * the gateway's channels, and its messages in `packages/protocol/src/stream`.
 */
export interface Channel {
  /** The channel's name. One that has many, such as `orderbook:ETH-USD`, is found by what stands before the colon. */
  name: string;
  /** What a token must allow, besides the stream itself. */
  scope: Scope;
  /** The form of its `subscribe` message; what reaches `subscribe` has it. */
  schema: TSchema;
  subscribe: (message: never, subscriber: Subscriber) => Promise<Subscription | Refused>;
}

/** One socket, as a channel sees it. */
export interface Subscriber {
  tenantId: string;
  clientId: string;
  /** Sends whole frames (see `textFrames`), in order. A client that reads too slowly is disconnected. */
  send: (frames: Buffer) => void;
  /**
   * Charges history that was read and sent, and waits for room, and until the client has paid for it: true when more may be sent, false when
   * the stream has ended.
   */
  room: (historyBytes: number) => Promise<boolean>;
  /** Ends the stream if the channel cannot keep its promise; the client resumes after the last message it received. */
  fail: (error: Error) => void;
}

export interface Subscription {
  /** What the `subscribed` message says, besides the channel. */
  answer: Pick<Subscribed, "recovered" | "sequence" | "oldest_sequence">;
  /** Called when `subscribed` has been sent: from now on frames may be sent. */
  start: () => void;
  /** After this nothing may be sent. Also called for a subscription that never started. */
  stop: () => void;
}
