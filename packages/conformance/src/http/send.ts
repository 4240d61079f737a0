import { type Agent, request as httpRequest, type IncomingMessage, type RequestOptions } from "node:http";
import { request as httpsRequest } from "node:https";
import type { Duplex } from "node:stream";
import { kitVersion } from "../version.js";

/** Gateways refuse requests that do not name their program. */
const userAgent = `bursar-conformance/${kitVersion}`;

/** One request, exactly as it is sent: nothing is added but `Host`, `User-Agent`, `Connection` and `Content-Length`. */
export interface RequestToSend {
  readonly method: string;
  readonly url: URL;
  /** As it is sent, if that is another spelling of the path of the URL, which is never spelt with dots alone between slashes. */
  readonly rawPath?: string | undefined;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body?: string | undefined;
  /** Of the body, if it is not UTF-8. */
  readonly bodyEncoding?: "latin1" | undefined;
  /** Several requests on one connection share an agent; otherwise each has its own connection. */
  readonly agent?: Agent | undefined;
  /** Sent at the same time as its neighbours. */
  readonly isConcurrent?: boolean | undefined;
  /** Closes the connection so long after the whole request was sent, if it has no answer yet, as a client does that ends. */
  readonly hangUpMs?: number | undefined;
  /** It tries what the contract leaves open, so what becomes of it is judged by its own check alone. */
  readonly isProbe?: boolean | undefined;
}

export interface ReceivedResponse {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
}

/** A request with its response, or with the reason why there is none. */
export interface Exchange {
  readonly index: number;
  readonly startedAt: Date;
  readonly durationMs: number;
  /** How long the check waited before it, on purpose. */
  readonly pausedMs: number;
  readonly request: RequestToSend;
  readonly response?: ReceivedResponse;
  readonly failure?: string;
  /** A response has begun, and its connection was closed before its end. */
  readonly isCutOff?: true;
  /** The connection was closed instead of a response. */
  readonly isClosed?: true;
  /** There was no complete response in time. */
  readonly isOverdue?: true;
  /** The connection was used before, and the target has closed it because it was idle. */
  readonly isStale?: true;
  /** It was begun and is not finished: another object takes its place then. */
  readonly isPending?: true;
  /** It was sent on a connection that an earlier request has used. */
  readonly isReused?: true;
}

export interface SendBounds {
  readonly timeoutMs: number;
  readonly bodyBytesMax: number;
  readonly headerBytesMax: number;
}

/** Makes a connection of its own for a request, if it is not one of TCP. */
export type Connect = () => Duplex;

export type SendOutcome = Pick<
  Exchange,
  "response" | "failure" | "isCutOff" | "isClosed" | "isOverdue" | "isStale" | "isReused"
>;

/** Sends a request once. A redirect is not followed, and a target that is too slow or too large is cut off. */
export function send(request: RequestToSend, bounds: SendBounds, connect?: Connect): Promise<SendOutcome> {
  return new Promise((resolve) => {
    const { url, method, bodyEncoding = "utf8" } = request;
    const body = request.body === undefined ? undefined : Buffer.from(request.body, bodyEncoding);
    const headers: string[] = ["Host", url.host, "User-Agent", userAgent];
    for (const [name, value] of request.headers) headers.push(name, value);
    if (body !== undefined) headers.push("Content-Length", String(body.length));
    if (request.agent === undefined) headers.push("Connection", "close");
    const options: RequestOptions = {
      method,
      headers,
      // Node uses a connection that is given only without an agent.
      ...(connect !== undefined && request.agent === undefined
        ? { createConnection: connect }
        : { agent: request.agent ?? false }),
      ...(request.rawPath === undefined ? {} : { path: request.rawPath }),
      maxHeaderSize: bounds.headerBytesMax,
      setHost: false,
    };
    const start = url.protocol === "https:" ? httpsRequest : httpRequest;
    const outgoing = start(url, options, (incoming) => {
      readBody(incoming, bounds.bodyBytesMax, (outcome) => finish(outcome));
    });
    const timer = setTimeout(
      () => finish({ failure: `no complete response within ${bounds.timeoutMs} ms`, isOverdue: true }),
      bounds.timeoutMs,
    );
    let isDone = false;
    let hangingUp: NodeJS.Timeout | undefined;
    function finish(outcome: SendOutcome): void {
      if (isDone) return;
      isDone = true;
      clearTimeout(timer);
      clearTimeout(hangingUp);
      if (outcome.failure !== undefined) outgoing.destroy();
      resolve(outgoing.reusedSocket ? { ...outcome, isReused: true } : outcome);
    }
    outgoing.on("error", (error: NodeJS.ErrnoException) => {
      const isClosed = ["ECONNRESET", "EPIPE"].includes(error.code ?? "");
      const isStale = outgoing.reusedSocket && isClosed;
      const failure = isClosed
        ? `the connection was closed without a response (${describeError(error)})`
        : describeError(error);
      finish({ failure, ...(isClosed ? { isClosed } : {}), ...(isStale ? { isStale } : {}) });
    });
    outgoing.on("upgrade", (_response, socket) => {
      socket.destroy();
      finish({ failure: "the connection was upgraded without being asked to" });
    });
    const { hangUpMs } = request;
    const hangUp = () =>
      finish({ failure: `the kit closed the connection ${hangUpMs} ms after it had sent the request` });
    outgoing.end(body, () => {
      if (hangUpMs === 0) hangUp();
      else if (hangUpMs !== undefined && !isDone) hangingUp = setTimeout(hangUp, hangUpMs);
    });
  });
}

function readBody(incoming: IncomingMessage, bytesMax: number, finish: (outcome: SendOutcome) => void): void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  incoming.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > bytesMax) finish({ failure: `the response body has more than ${bytesMax} bytes` });
    else chunks.push(chunk);
  });
  incoming.on("error", (error: NodeJS.ErrnoException) =>
    finish(
      incoming.complete
        ? { failure: describeError(error) }
        : { failure: describeCutOff(incoming, bytes), isCutOff: true },
    ),
  );
  incoming.on("end", () =>
    finish({
      response: {
        status: incoming.statusCode ?? 0,
        headers: pairsOf(incoming.rawHeaders),
        body: Buffer.concat(chunks),
      },
    }),
  );
}

function describeCutOff({ statusCode, headers }: IncomingMessage, bytes: number): string {
  const length = headers["content-length"];
  const end =
    length === undefined
      ? `after ${bytes} bytes of the body, before its last chunk`
      : `after ${bytes} of the ${length} bytes that its Content-Length announces`;
  return `a response with status ${statusCode} whose connection was closed ${end}`;
}

export function pairsOf(raw: readonly string[]): [string, string][] {
  const pairs: [string, string][] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) pairs.push([raw[at] ?? "", raw[at + 1] ?? ""]);
  return pairs;
}

function describeError(error: NodeJS.ErrnoException): string {
  return error.code === undefined ? error.message : `${error.code}: ${error.message}`;
}
