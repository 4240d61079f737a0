import type { Session } from "../engine/session.js";
import { percentEncode } from "../http/percent-encode.js";
import type { Exchange } from "../http/send.js";
import type { Delivery } from "../webhooks/receiver.js";

/** An exchange as reports show it: strings, bounded, without secrets. */
export interface ShownExchange {
  readonly index: number;
  readonly started_at: string;
  readonly duration_ms: number;
  readonly method: string;
  readonly url: string;
  readonly request_headers: readonly (readonly [string, string])[];
  readonly request_body?: string;
  /** Absent if the body is text. */
  readonly request_body_encoding?: "base64";
  readonly status?: number;
  readonly response_headers?: readonly (readonly [string, string])[];
  readonly response_body?: string;
  readonly failure?: string;
  /** Sent at the same time as its neighbours. */
  readonly concurrent?: true;
  /** The kit closed the connection so long after it had sent the request, if there was no answer yet. */
  readonly hang_up_ms?: number;
  /** Waited on purpose before it was sent. */
  readonly paused_ms?: number;
  /** The outcome of the check is about this one. */
  readonly judged?: true;
}

/** A notification as reports show it. */
export interface ShownNotification {
  readonly index: number;
  readonly received_at: string;
  readonly method: string;
  /** The path at the receiver. */
  readonly path: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string;
  /** Absent if the body is text. */
  readonly body_encoding?: "base64";
  readonly bytes: number;
  /** The status that the receiver answered with; 0 if it did not. */
  readonly answer: number;
  readonly answered_after_ms: number;
  /** The sender closed the connection before it had the answer. */
  readonly abandoned?: true;
}

const bodyCharactersMax = 4000;
const headersMax = 60;
const headerCharactersMax = 1000;
const removed = "[removed]";
const alwaysRemoved = /^(cookie|set-cookie|proxy-authorization|x-api-key)$/i;
const secretMember =
  /("[^"]*(?:secret|password|access_token|refresh_token|private_key|api_key)[^"]*"\s*:\s*")((?:[^"\\]|\\.)*)/gi;

/** Replaces every secret of the run by the name of a variable, also where it is encoded, and removes what looks like another one. */
export function createRedactor(session: Pick<Session, "secrets">) {
  const forms = [...session.secrets]
    .filter(([secret]) => secret.length >= 4)
    .flatMap(([secret, name]) =>
      [
        secret,
        percentEncode(secret),
        JSON.stringify(secret).slice(1, -1),
        ...[secret, `${secret}:`, `:${secret}`].map((text) => Buffer.from(text).toString("base64")),
      ].map((form) => [form, name] as const),
    )
    // Longer ones first: one secret can be a part of another.
    .sort(([one], [other]) => other.length - one.length);
  const text = (value: string) =>
    forms.reduce((done, [secret, name]) => done.replaceAll(secret, name), value);
  const body = (value: string) => cut(text(value).replace(secretMember, `$1${removed}`), bodyCharactersMax);
  const requestBody = (value: string, encoding: "latin1" | undefined) =>
    encoding === undefined
      ? { request_body: body(value) }
      : {
          request_body: Buffer.from(body(value), encoding).toString("base64"),
          request_body_encoding: "base64" as const,
        };
  const header = ([name, value]: readonly [string, string]): [string, string] => {
    if (alwaysRemoved.test(name)) return [name, removed];
    const shown = text(value);
    const isKnown = shown !== value || value === "Bearer " || value.includes("conformance.not-a.token");
    if (/^authorization$/i.test(name) && !isKnown) return [name, removed];
    return [cut(name, headerCharactersMax), cut(shown, headerCharactersMax)];
  };
  const exchange = ({
    index,
    startedAt,
    durationMs,
    pausedMs,
    request,
    response,
    failure,
  }: Exchange): ShownExchange => ({
    index,
    started_at: startedAt.toISOString(),
    duration_ms: Math.round(durationMs),
    method: request.method,
    url: text(request.rawPath === undefined ? request.url.href : request.url.origin + request.rawPath),
    request_headers: request.headers.map(header),
    ...(request.body === undefined ? {} : requestBody(request.body, request.bodyEncoding)),
    ...(response === undefined
      ? {}
      : {
          status: response.status,
          response_headers: response.headers.slice(0, headersMax).map(header),
          response_body: body(response.body.toString("utf8")),
        }),
    ...(failure === undefined ? {} : { failure: text(failure) }),
    ...(request.isConcurrent === true ? { concurrent: true as const } : {}),
    ...(request.hangUpMs === undefined ? {} : { hang_up_ms: request.hangUpMs }),
    ...(pausedMs === 0 ? {} : { paused_ms: Math.round(pausedMs) }),
  });
  const notification = (delivery: Delivery): ShownNotification => {
    const decoded = delivery.decoded.toString("utf8");
    const isText = Buffer.from(decoded).equals(delivery.decoded);
    return {
      index: delivery.index,
      received_at: delivery.receivedAt.toISOString(),
      method: delivery.method,
      path: cut(text(delivery.path), headerCharactersMax),
      headers: delivery.headers.slice(0, headersMax).map(header),
      body: isText ? body(decoded) : cut(delivery.body.toString("base64"), bodyCharactersMax),
      ...(isText ? {} : { body_encoding: "base64" as const }),
      bytes: delivery.body.length,
      answer: delivery.status,
      answered_after_ms: Math.round(delivery.answeredAfterMs),
      ...(delivery.isAbandoned ? { abandoned: true as const } : {}),
    };
  };
  return { text: (value: string) => cut(text(value), bodyCharactersMax), exchange, notification };
}

function cut(value: string, max: number): string {
  return value.length <= max ? value : `${value.slice(0, max)}… (${value.length - max} more characters)`;
}
