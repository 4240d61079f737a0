import type { ErrorDetail } from "../generated/schemas.js";
import type { Exchange } from "./exchange.js";
import { readRetryAfter } from "./retry-after.js";

/** Decides what an attempt means and whether another one is made. No I/O: the loop is in `transport.ts`. */

export interface CallTraits {
  /** Whether it changes nothing. */
  isRead: boolean;
  /** Whether a repetition has no further effect: a read, a call with an idempotency key, or a change to a given state. */
  isRepeatable: boolean;
  /** Scheme, host and port of the service, for messages. */
  origin: string;
}

export interface Fault {
  code: string;
  message: string;
  /**
   * What the attempt can have done: `none` after a refusal, `not_sent` if it has not reached the service, `possible` if nobody knows. A 503
   * counts as possible: the service also responds with it if the answer to its COMMIT was lost.
   */
  effect: "none" | "not_sent" | "possible";
  status?: number;
  requestId?: string | undefined;
  docUrl?: string | undefined;
  details?: readonly ErrorDetail[] | undefined;
  retryAfterMs?: number | undefined;
  cause?: unknown;
}

export type Verdict =
  | { kind: "success"; value: unknown }
  | { kind: "not_modified" }
  /** The token was refused: once more with a new one. */
  | { kind: "unauthenticated"; fault: Fault }
  | { kind: "retry"; fault: Fault }
  | { kind: "fail"; fault: Fault };

const refusedStatusesToRepeat = [408, 429];
const brokenStatusesToRepeat = [500, 502, 503, 504];

export function judge(result: Exchange, traits: CallTraits, nowMs: number): Verdict {
  if (result.kind === "failure") return judgeFailure(result, traits);
  const { status } = result;
  if (status === 304) return { kind: "not_modified" };
  if (status >= 200 && status < 300) return judgeSuccess(result, traits);
  const fault = faultOf(result, nowMs);
  if (status === 401 && !fault.code.startsWith("SIGNATURE_")) return { kind: "unauthenticated", fault };
  const mayRepeat =
    fault.effect === "possible"
      ? traits.isRepeatable && [...brokenStatusesToRepeat, ...refusedStatusesToRepeat].includes(status)
      : refusedStatusesToRepeat.includes(status);
  return { kind: mayRepeat ? "retry" : "fail", fault };
}

function judgeFailure(
  failure: Exchange & { kind: "failure" },
  { isRepeatable, origin }: CallTraits,
): Verdict {
  const { code, progress, reason, cause } = failure;
  const because = reason === undefined ? "" : ` (${reason})`;
  const connectionMessages = {
    not_connected: `No connection to ${origin} could be made${because}.`,
    not_secure: `No secure connection (TLS) to ${origin} could be made${because}; nothing was sent.`,
    perhaps_sent: `The connection to ${origin} was lost before the whole response had arrived${because}.`,
  };
  const messages = {
    ABORTED: "The call was aborted.",
    TIMEOUT: `${origin} did not respond in time.`,
    CONNECTION_FAILED: connectionMessages[progress],
  };
  const wasSent = progress === "perhaps_sent";
  const fault: Fault = { code, message: messages[code], effect: wasSent ? "possible" : "not_sent", cause };
  // A certificate does not become valid within a minute.
  const mayRepeat = code !== "ABORTED" && progress !== "not_secure" && (isRepeatable || !wasSent);
  return { kind: mayRepeat ? "retry" : "fail", fault };
}

/** A damaged response says no more than a lost one. */
function judgeSuccess(response: Exchange & { kind: "response" }, { isRepeatable }: CallTraits): Verdict {
  if (response.status === 204) return { kind: "success", value: undefined };
  const value = parseObject(response.body);
  if (value !== undefined) return { kind: "success", value };
  return {
    kind: isRepeatable ? "retry" : "fail",
    fault: {
      code: "RESPONSE_INVALID",
      message: `The response with the status ${response.status} is not a JSON object.`,
      effect: "possible",
      status: response.status,
      requestId: response.headers.get("x-request-id") ?? undefined,
    },
  };
}

function faultOf({ status, headers, body }: Exchange & { kind: "response" }, nowMs: number): Fault {
  const requestId = headers.get("x-request-id") ?? undefined;
  const retryAfterMs = readRetryAfter(headers.get("retry-after"), nowMs);
  const { error, error_description } = (parseObject(body) ?? {}) as {
    error?: unknown;
    error_description?: unknown;
  };
  const known = { status, requestId, retryAfterMs, effect: status < 500 ? "none" : "possible" } as const;
  // The endpoints for tokens have errors as RFC 6749 defines them.
  if (typeof error === "string")
    return {
      ...known,
      code: error.toUpperCase(),
      message: typeof error_description === "string" ? error_description : `The service answered ${error}.`,
    };
  const { code, message, request_id, doc_url, details } = (error ?? {}) as Record<string, unknown>;
  if (typeof code === "string" && typeof message === "string")
    return {
      ...known,
      code,
      message,
      requestId: typeof request_id === "string" ? request_id : requestId,
      docUrl: typeof doc_url === "string" ? doc_url : undefined,
      details: Array.isArray(details) ? (details as ErrorDetail[]) : undefined,
    };
  // Something between the client and the service has answered; nobody knows what it had done before.
  return {
    ...known,
    effect: "possible",
    code: "RESPONSE_INVALID",
    message: `The response with the status ${status} is not an error of the service.`,
  };
}

function parseObject(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
