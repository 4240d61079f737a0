import { isObject } from "../node/block-tags.js";
import { RpcError, rpcCodes } from "../rpc-error.js";

/** The envelope of JSON-RPC 2.0: requests alone and in batches. */

export type CallId = string | number | null;

export interface Call {
  readonly method: string;
  readonly params: readonly unknown[];
  /** Undefined in a notification, which is carried out and not answered. */
  readonly id: CallId | undefined;
}

export type ReadCall = Call | { readonly id: CallId; readonly error: RpcError };

const batchMax = 1000;

export function readBody(text: string): ReadCall | readonly ReadCall[] {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return refused(null, rpcCodes.parseError, "Parse error: the body is not JSON.");
  }
  if (!Array.isArray(body)) return readCall(body);
  if (body.length === 0) return refused(null, rpcCodes.invalidRequest, "Invalid request: an empty batch.");
  if (body.length > batchMax)
    return refused(null, rpcCodes.invalidRequest, `A batch has at most ${batchMax} requests.`);
  return body.map(readCall);
}

function readCall(value: unknown): ReadCall {
  if (!isObject(value)) return refused(null, rpcCodes.invalidRequest, "Invalid request: not an object.");
  const { jsonrpc, method, params = [], id } = value;
  const isId = id === undefined || id === null || typeof id === "string" || typeof id === "number";
  if (!isId)
    return refused(null, rpcCodes.invalidRequest, "Invalid request: `id` is neither a string nor a number.");
  if (jsonrpc !== "2.0" || typeof method !== "string")
    return refused(
      id ?? null,
      rpcCodes.invalidRequest,
      'Invalid request: `jsonrpc` must be "2.0" and `method` a string.',
    );
  if (!Array.isArray(params))
    return refused(id ?? null, rpcCodes.invalidParams, "Invalid params: `params` must be a list.");
  return { method, params, id };
}

function refused(id: CallId, code: number, message: string): ReadCall {
  return { id, error: new RpcError(code, message) };
}

export function writeResult(id: CallId, result: unknown): object {
  return { jsonrpc: "2.0", id, result: result ?? null };
}

export function writeError(id: CallId, { code, message, data }: RpcError): object {
  return { jsonrpc: "2.0", id, error: { code, message, ...(data === undefined ? {} : { data }) } };
}
