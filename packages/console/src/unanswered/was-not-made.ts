import { isBursarError } from "@bursar/client";
import { hasUnknownOutcome } from "../ui/forms/fault-of";

/**
 * Whether what a request that failed asks for is known not to exist. If an earlier attempt may have created it, a refusal by a quota, the
 * policy or a limit says nothing about that one, which may also still be on its way. A request that is not valid does: it never was.
 */
export function wasNotMade(error: unknown, isRepeated: boolean): boolean {
  if (hasUnknownOutcome(error)) return false;
  if (!isBursarError(error)) return !isRepeated;
  if (error.code === "IDEMPOTENCY_KEY_REUSED") return false;
  return !isRepeated || (error.code === "INVALID_REQUEST" && error.details.length > 0);
}

/** A login that has ended, a timeout, an early or a too frequent request: the same is answered otherwise a moment later. */
const passing: readonly number[] = [401, 408, 425, 429];

/** Whether the service would refuse the same request again. */
export function isFinalRefusal(error: unknown): boolean {
  if (!isBursarError(error) || hasUnknownOutcome(error)) return false;
  const status = error.status ?? 0;
  return status >= 400 && status < 500 && !passing.includes(status);
}

/** What the review could not read says nothing about the request itself, which was not sent. */
export function refuseUnsent(cause: unknown): never {
  if (!isBursarError(cause)) throw cause;
  throw new Error(`Nothing was sent, because the names could not be read again. ${cause.message}`, { cause });
}
