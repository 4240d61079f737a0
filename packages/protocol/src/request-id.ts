/** Correlates a request with its response, its error body and its log lines. */
export const requestIdHeader = "x-request-id";

const requestIdPattern = /^[A-Za-z0-9._-]{1,128}$/;

/** Whether a client's request id can be used as it is; anything else could forge log lines. */
export function isRequestId(value: unknown): value is string {
  return typeof value === "string" && requestIdPattern.test(value);
}
