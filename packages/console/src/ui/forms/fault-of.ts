import { isBursarError } from "@bursar/client";

/** What the service said about a field of a form, such as `label` for `body.label`. */
export function faultOf(error: unknown, field: string): string | undefined {
  if (!isBursarError(error)) return undefined;
  return error.details.find(({ path }) => path === `body.${field}` || path.startsWith(`body.${field}.`))
    ?.reason;
}

/** Whether a request that failed may have had its effect all the same. */
export function hasUnknownOutcome(error: unknown): boolean {
  return isBursarError(error) && error.outcome === "unknown";
}
