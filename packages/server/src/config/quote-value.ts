/**
 * A value of the configuration as an error shows it: truncated, so that a pasted file does not fill the screen, and without what may be a
 * secret. A value that is refused does not have its usual form, so more is masked than where a valid one is shown.
 */
export function quoteValue(value: unknown): string {
  const text = typeof value === "string" ? maskSecrets(value) : "not a single value";
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
}

const mask = "********";

function maskSecrets(value: string): string {
  return (
    value
      // Up to the last @, because a password may contain one.
      .replace(/:\/\/.*@/s, `://${mask}@`)
      .replace(/(:\/\/[^?#]*[?#]).+/s, `$1${mask}`)
      // As libpq writes it without a URL. A value in quotes can contain spaces, so nothing after it is shown.
      .replace(/((?:pass|secret|token|key)\w*\s*[=:]).+/is, `$1${mask}`)
  );
}
