/**
 * A text that somebody else has written, for a terminal: what moves the cursor, turns the direction of writing or breaks the line is
 * shown as what it is, `\u{1b}`.
 */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (sign) => `\\u{${sign.codePointAt(0)?.toString(16)}}`);
}
