/** Correlates a request with its answer, its error body and its log lines. */
export const requestIdHeader = "x-request-id";

const requestIdPattern = /^[A-Za-z0-9._-]{1,128}$/;

/** Whether a client's own request id can be taken over as it is; anything else could forge log lines. */
export function isRequestId(value: unknown): value is string {
  return typeof value === "string" && requestIdPattern.test(value);
}
