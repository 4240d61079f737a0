/**
 * Makes an untrusted string safe for a terminal: characters that move the cursor, change the writing direction or break the line are
 * escaped as `\u{1b}`.
 */
export function printable(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
}
