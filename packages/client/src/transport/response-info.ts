/** What is known about the response that a result came with. */
export interface ResponseInfo {
  status: number;
  requestId: string | undefined;
  /** The key of a creating call, given or generated. */
  idempotencyKey: string | undefined;
  /** Whether an earlier request with the same key had created it. */
  replayed: boolean;
  attempts: number;
  etag: string | undefined;
}

/** A resource, with the response that it came with in a property that is neither enumerated nor part of its JSON. */
export type Answered<Value> = Value extends object ? Value & { readonly lastResponse: ResponseInfo } : Value;

export function withResponse(value: unknown, info: ResponseInfo): unknown {
  return typeof value === "object" && value !== null
    ? Object.defineProperty(value, "lastResponse", { value: info, enumerable: false })
    : value;
}
