import type { Credentials } from "../credentials/credentials.js";
import type { SocketConstructor } from "../stream/socket.js";
import type { Fetch } from "./exchange.js";
import type { Runtime } from "./runtime.js";

/** What `createBursar` takes. */
export interface BursarOptions {
  /** The public address of the service, such as `https://pay.example`. */
  baseUrl: string;
  credentials: Credentials;
  /** The scopes of the tokens, separated by spaces. Defaults to all scopes of the client. */
  scope?: string;
  /** How long one attempt may take, with its body. Defaults to 30 seconds. */
  timeoutMs?: number;
  /** How long a call may take with all attempts and pauses. Defaults to 60 seconds. */
  budgetMs?: number;
  /** The maximum number of further attempts. Defaults to 4. */
  retriesMax?: number;
  /** Ends all calls, as the signal of each of them does. */
  signal?: AbortSignal;
  /** Defaults to the platform's `fetch`. */
  fetch?: Fetch;
  /** Defaults to the platform's `WebSocket`, or to that of the package `ws` if it is installed. */
  WebSocket?: SocketConstructor;
  /**
   * Called before each call. What it returns is sent as `Bursar-Passkey`, and the call is not repeated then; undefined if the operation needs
   * no confirmation by a person. `passkeyOperations` lists those that do.
   */
  confirm?: (request: RequestToConfirm) => Promise<string | undefined>;
  /** Called before each attempt. */
  onRequest?: (request: RequestNotice) => void;
  /** Called after each attempt, also if it has failed. */
  onResponse?: (response: ResponseNotice) => void;
  /** Clock, timer and randomness, for tests. */
  runtime?: Partial<Runtime>;
}

export interface RequestToConfirm {
  /** Method and path of the operation, such as `PUT /v1/policy`. */
  operation: string;
  /** The path that is sent, with its query. */
  target: string;
  /** The body that is sent. */
  body: string | undefined;
}

export interface RequestNotice {
  /** Method and path of the operation, such as `POST /v1/transactions`. */
  operation: string;
  method: string;
  url: string;
  /** Starts with 1. */
  attempt: number;
  idempotencyKey: string | undefined;
}

export interface ResponseNotice extends RequestNotice {
  /** Undefined if there was no response. */
  status: number | undefined;
  requestId: string | undefined;
  /** The code of the error, if the attempt has failed. */
  code: string | undefined;
  durationMs: number;
}

/** What every call takes. */
export interface CallOptions {
  signal?: AbortSignal | undefined;
  /** How long one attempt may take. */
  timeoutMs?: number | undefined;
  /** How long the call may take with all attempts and pauses. */
  budgetMs?: number | undefined;
}

/** What a call that creates something takes. */
export interface CreateOptions extends CallOptions {
  /**
   * 1 to 255 visible ASCII characters. A call with a key that was used before returns what the first one has created. Take it from your own
   * data, such as the number of an invoice, if your program can crash between deciding and calling. Defaults to a random key.
   */
  idempotencyKey?: string | undefined;
}
