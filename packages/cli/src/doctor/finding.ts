/** What a check has found, and what to do about it. */
export interface Finding {
  state: "ok" | "warning" | "failed" | "skipped";
  check: string;
  found: string;
  advice?: string;
}

/** The result of a check, or a failure with the message of what it threw. */
export async function finding(
  check: string,
  look: () => Promise<Omit<Finding, "check">>,
  advice: string,
): Promise<Finding> {
  try {
    return { check, ...(await look()) };
  } catch (error) {
    return { check, state: "failed", found: explain(error), advice };
  }
}

/** `fetch` hides its reason in a cause. */
export function explain(error: unknown): string {
  const { message, code, cause } = error as {
    message?: string;
    code?: string;
    cause?: { code?: string; message?: string };
  };
  const reason = cause?.code ?? cause?.message;
  return [code, message, reason === undefined ? undefined : `(${reason})`].filter(Boolean).join(" ");
}
