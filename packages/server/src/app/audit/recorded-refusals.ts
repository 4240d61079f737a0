import { type ErrorCode, errorCatalog } from "@bursar/protocol";

/** What is in the audit log beside 401 and 403: a client tries what it must not, or decides on something else than what it has seen. */
const recordedCodes: ReadonlySet<ErrorCode | null> = new Set<ErrorCode>([
  "DIGEST_MISMATCH",
  "APPROVAL_STALE",
  "CHANGE_REQUEST_STALE",
  "WEBHOOK_URL_REFUSED",
  "WALLET_UNKNOWN",
]);

/** Whether a refusal is in the audit log, whatever it was an answer to: a request, or an item of a batch. */
export function isRecordedRefusal(code: ErrorCode | null): boolean {
  if (code === null) return false;
  const { status } = errorCatalog[code];
  return status === 401 || status === 403 || recordedCodes.has(code);
}
