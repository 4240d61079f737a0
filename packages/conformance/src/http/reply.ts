import { isUtf8 } from "node:buffer";
import type { Exchange, RequestToSend } from "./send.js";

/** A response as checks read it. */
export interface Reply {
  readonly exchange: Exchange;
  readonly status: number;
  readonly text: string;
  /** The parsed body; undefined if it is not JSON. */
  readonly json: unknown;
  readonly header: (name: string) => string | undefined;
}

const replies = new WeakMap<Exchange, Reply>();

/** The response of an exchange as checks read it. Those that look at the whole run ask for it often, so it is made once. */
export function replyOf(exchange: Exchange): Reply | undefined {
  const { response } = exchange;
  if (response === undefined) return undefined;
  const reply = replies.get(exchange) ?? toReply({ ...exchange, response });
  replies.set(exchange, reply);
  return reply;
}

function toReply(exchange: Exchange & { response: NonNullable<Exchange["response"]> }): Reply {
  const { status, headers, body } = exchange.response;
  const text = body.toString("utf8");
  let parsed: { readonly json: unknown } | undefined;
  return {
    exchange,
    status,
    text,
    // Many replies are only quoted, and some are made again for each check.
    get json() {
      parsed ??= { json: parseJson(text) };
      return parsed.json;
    },
    header: (name) => headers.find(([own]) => own.toLowerCase() === name.toLowerCase())?.[1],
  };
}

export const mediaTypeOf = (reply: Reply) =>
  (reply.header("content-type") ?? "").split(";")[0]?.trim().toLowerCase() ?? "";

const byteOrderMark = Buffer.from("\uFEFF");

/** What RFC 8259 does not allow in JSON that is sent; undefined if nothing is wrong. */
export function findWrongEncoding({ exchange }: Reply): string | undefined {
  const body = exchange.response?.body ?? Buffer.alloc(0);
  if (!isUtf8(body)) return "bytes that are not UTF-8";
  return body.subarray(0, byteOrderMark.length).equals(byteOrderMark) ? "a byte order mark" : undefined;
}

/** The same of a body whose form is open: it is wrong only if its content type says that it is JSON. Parsers may ignore the mark. */
export function findUnreadableJson(reply: Reply): string | undefined {
  const type = reply.header("content-type") ?? "";
  const isDeclared =
    /[/+]json$/.test(mediaTypeOf(reply)) && !/charset/i.test(type.replace(/charset="?utf-?8/i, ""));
  const isWrong = isDeclared && !isUtf8(reply.exchange.response?.body ?? Buffer.alloc(0));
  return isWrong ? `bytes that are not UTF-8 in a body declared as ${type}` : undefined;
}

const sentBodies = new WeakMap<RequestToSend, { readonly json: unknown }>();

/** The body of a request as it is understood if it is JSON. It is asked for as often as a reply, so it is parsed once. */
export function sentBody(request: RequestToSend): unknown {
  const parsed = sentBodies.get(request) ?? { json: parseJson(request.body ?? "") };
  sentBodies.set(request, parsed);
  return parsed.json;
}

const depthMax = 100;

/** Undefined for what is not JSON, or is nested so deeply that looking through it could exhaust the stack. */
export function parseJson(text: string): unknown {
  if (text.length > depthMax && depthOf(text) > depthMax) return undefined;
  try {
    // A mark at the beginning is no part of JSON, and RFC 8259 lets parsers ignore it.
    return JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch {
    return undefined;
  }
}

function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  let isInString = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === '"') isInString = !isInString;
    else if (isInString) at += character === "\\" ? 1 : 0;
    else if (character === "[" || character === "{") {
      depth += 1;
      if (depth > deepest) deepest = depth;
    } else if (character === "]" || character === "}") depth -= 1;
  }
  return deepest;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value at a path such as `data.transaction.id` or `items.0.id`. */
export function valueAt(value: unknown, path: string): unknown {
  let here = value;
  for (const name of path.split(".")) {
    if (Array.isArray(here)) here = here[Number(name)];
    else if (isObject(here) && Object.hasOwn(here, name)) here = here[name];
    else return undefined;
  }
  return here;
}

/** The object of an error response; undefined if the body has none. */
export function errorOf(reply: Reply): Record<string, unknown> | undefined {
  return errorIn(reply.json);
}

export function errorIn(json: unknown): Record<string, unknown> | undefined {
  const error = isObject(json) ? json["error"] : undefined;
  return isObject(error) ? error : undefined;
}

/** Strings, numbers and lists beside the error, such as RFC 9457 has, are no top-level objects. */
export const objectsBesideError = ({ json }: Reply): string[] =>
  isObject(json) ? Object.keys(json).filter((name) => name !== "error" && isObject(json[name])) : [];

/** Statuses of refusals are open, so an error object counts as one as well. A redirect is neither accepted nor refused. */
export function isRefusal(reply: Reply): boolean {
  return reply.status >= 400 || errorOf(reply) !== undefined;
}

export function describeReply(reply: Reply): string {
  const body = reply.text.length > 200 ? `${reply.text.slice(0, 200)}…` : reply.text;
  const location = reply.status >= 300 && reply.status < 400 ? reply.header("location") : undefined;
  return `status ${reply.status}${location === undefined ? "" : ` to ${location}`} with ${body === "" ? "an empty body" : `the body ${body}`}`;
}
