import { printable } from "../../../runtime/printable.js";
import type { RpcError } from "./rpc-error.js";

/** What became of one call. `unavailable` is a reason: there is no answer that can be used. */
export type RpcOutcome =
  | { readonly result: unknown }
  | { readonly error: RpcError }
  | { readonly unavailable: string }
  | Wrong;

/** The node has answered, and not what JSON-RPC or the method gives. */
export interface Wrong {
  readonly unavailable: string;
  readonly isWrong: true;
}

const wrong = (unavailable: string): Wrong => ({ unavailable, isWrong: true });

/** A call of a batch that the node did not answer, because of an error that it gives instead. */
export interface Unanswered {
  readonly refused: RpcError;
}

/** The outcomes of the calls with these ids, in their order; or the one error with which all of a batch was refused. */
export type ReadResponse =
  | { readonly outcomes: readonly (RpcOutcome | Unanswered)[] }
  | { readonly refused: RpcError }
  | { readonly malformed: string };

/** Reads the answer to a request of JSON-RPC 2.0: an object for one call, a list for several. */
export function readResponse(
  text: string,
  ids: readonly number[],
  redact: (text: string) => string,
): ReadResponse {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return { malformed: "the answer is not JSON" };
  }
  if (Array.isArray(body)) return readBatch(body, ids, redact);
  if (!isObject(body)) return { malformed: "the answer is not an object" };
  const outcome = readOutcome(body, redact);
  const [id] = ids;
  if (ids.length === 1 && body["id"] === id) return { outcomes: [outcome] };
  // A node that could not read the request does not know its id.
  if ("error" in outcome) return ids.length === 1 ? { outcomes: [outcome] } : { refused: outcome.error };
  return { malformed: "the answer has another id than the request" };
}

function readBatch(
  body: readonly unknown[],
  ids: readonly number[],
  redact: (text: string) => string,
): ReadResponse {
  const byId = new Map<unknown, RpcOutcome>();
  for (const answer of body) {
    if (!isObject(answer)) return { malformed: "the answer has an element that is not an object" };
    const isSecond = byId.has(answer["id"]);
    byId.set(answer["id"], isSecond ? wrong("it is answered twice") : readOutcome(answer, redact));
  }
  const refused = ids.every((id) => byId.has(id)) ? undefined : findRefusal(byId, new Set<unknown>(ids));
  const answered = ids.map((id) => byId.get(id));
  if (refused !== undefined && !answered.some((outcome) => outcome !== undefined && "result" in outcome))
    return { refused };
  const unanswered = refused === undefined ? wrong("it is not answered") : { refused };
  return { outcomes: answered.map((outcome) => outcome ?? unanswered) };
}

/**
 * Why some calls of a batch were not answered: an error that belongs to none of them, or the last one of all. geth and erigon answer a batch that
 * is too large with a list of one error, which has the id of the first call.
 */
function findRefusal(
  byId: ReadonlyMap<unknown, RpcOutcome>,
  ids: ReadonlySet<unknown>,
): RpcError | undefined {
  if (ids.size === 1) return undefined;
  let last: RpcError | undefined;
  for (const [id, outcome] of byId) {
    if (!("error" in outcome)) continue;
    last = outcome.error;
    if (!ids.has(id)) break;
  }
  return last;
}

function readOutcome(answer: Record<string, unknown>, redact: (text: string) => string): RpcOutcome {
  const error = readError(answer["error"], redact);
  if (error !== undefined) return { error };
  if (answer["error"] !== undefined && answer["error"] !== null) return wrong("the error is malformed");
  return Object.hasOwn(answer, "result") ? { result: answer["result"] } : wrong("there is no result");
}

const messageLengthMax = 300;
/** A message can be as long as the answer; this much of it is cleaned. */
const rawLengthMax = 4096;
/** 1 kB of what a contract returned is more than is looked at. */
const returnedLengthMax = 2 + 2 * 1024;

/** The data of an error is what a contract returned: a string, or in `data` of an object, as EDR and Hardhat answer. */
function readError(value: unknown, redact: (text: string) => string): RpcError | undefined {
  if (!isObject(value)) return undefined;
  const { code, message, data } = value;
  if (typeof code !== "number") return undefined;
  const text =
    typeof message === "string"
      ? printable(redact(message.slice(0, rawLengthMax))).slice(0, messageLengthMax)
      : "";
  const returned = isObject(data) ? data["data"] : data;
  return {
    code,
    message: text,
    returned: isData(returned) ? returned.slice(0, returnedLengthMax) : undefined,
  };
}

/** Whole bytes in hexadecimal. A pattern with a repeated group fails with a stack overflow at some 8 million bytes. */
export function isData(value: unknown): value is string {
  return typeof value === "string" && value.length % 2 === 0 && /^0x[0-9a-f]*$/i.test(value);
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
