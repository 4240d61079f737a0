import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import type { Chose } from "./other-choices.js";

export interface Answer {
  readonly status: number;
  readonly headers?: Record<string, string>;
  readonly body?: unknown;
  /** A body that is not JSON. */
  readonly text?: string;
}

export class OtherRefusal extends Error {
  readonly status: number;
  readonly code: string;
  constructor(status: number, code: string) {
    super(`Refused: ${code.toLowerCase().replaceAll("_", " ")}.`);
    this.status = status;
    this.code = code;
  }
}

/** What `act` returns, or the refusal that it throws. */
export function answer(chose: Chose, act: () => Answer): Answer {
  try {
    return act();
  } catch (error) {
    if (!(error instanceof OtherRefusal)) throw error;
    const { status, code } = error;
    const isLong = code === "BAD_JSON" && chose("errors with a long message for a body that is not JSON");
    const message = error.message + (isLong ? " at line 1 of the stack".repeat(50) : "");
    const requestId =
      (chose("long request ids that differ at their end") ? "r".repeat(300) : "") + randomUUID();
    const isProblem = chose("errors with the members of RFC 9457 beside the object");
    const problem = { type: "about:blank", title: message, status, request_id: requestId, errors: [] };
    return {
      status: chose("errors answered with 300") ? 300 : status,
      headers: typeOfErrors(chose),
      body: {
        ...(isProblem ? problem : {}),
        error: { code, message, request_id: requestId, help: "https://elsewhere.example", more: {} },
      },
    };
  }
}

function typeOfErrors(chose: Chose): Record<string, string> {
  if (chose("errors with the members of RFC 9457 beside the object"))
    return { "content-type": "application/problem+json" };
  if (chose("errors declared as text/json")) return { "content-type": "text/json" };
  if (chose("errors declared as text")) return { "content-type": "text/plain; charset=utf-8" };
  return chose("errors without a content type") ? { "content-type": "" } : {};
}

export function parseObject({ headers }: IncomingMessage, body: string): Record<string, unknown> {
  if (headers["content-type"] !== "application/json") throw new OtherRefusal(406, "JSON_ONLY");
  try {
    const value = JSON.parse(body) as unknown;
    if (typeof value === "object" && value !== null && !Array.isArray(value))
      return value as Record<string, unknown>;
  } catch {
    // Refused below.
  }
  throw new OtherRefusal(400, "BAD_JSON");
}

/** Whether a request has this token, in one of the spellings that were chosen. */
export function isTokenOf(chose: Chose, { headers }: IncomingMessage, token: string): boolean {
  const given = headers.authorization ?? "";
  const isApiKey = chose("a token that is also accepted as an API key");
  const isQuoted = chose("a token that is also accepted in quotes") && given === `Bearer "${token}"`;
  return isQuoted || given === `Bearer ${token}` || (isApiKey && [`Token ${token}`, token].includes(given));
}

/** So long a request is worked on, if that matters. */
const workMs = 20;

export async function isGone({ socket }: IncomingMessage): Promise<boolean> {
  await delay(workMs);
  return socket.destroyed;
}

export function readKey(chose: Chose, key: string | string[] | undefined): string {
  if (typeof key !== "string" || key === "") throw new OtherRefusal(428, "KEY_NEEDED");
  const isTooLong =
    (chose("keys of at most 36 characters") && key.length > 36) ||
    (chose("keys of at most 16 characters") && key.length > 16) ||
    (chose("keys of at most 20 characters, which the target file does not say") && key.length > 20);
  if (isTooLong) throw new OtherRefusal(400, "KEY_TOO_LONG");
  if (chose("keys that must be UUIDs") && !/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(key))
    throw new OtherRefusal(400, "UUID_NEEDED");
  return key;
}

/** To a repetition, if it is not refused. */
export function answerAgain(chose: Chose, id: string): Answer | undefined {
  if (chose("repetitions answered with 303"))
    return { status: 303, headers: { location: `/v1/transactions/${id}` } };
  if (chose("repetitions accepted without an id")) return { status: 202 };
  if (chose("repetitions answered with 204")) return { status: 204 };
  const status = chose("repetitions answered with 200") ? 200 : 208;
  if (status === 200 || chose("repetitions answered with 208"))
    return { status, headers: { location: `/v1/transactions/${id}` } };
  return undefined;
}
