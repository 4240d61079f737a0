/**
 * Makes an untrusted string safe for a terminal: characters that move the cursor, change the writing direction, break the line or are
 * not seen are escaped as `\u{1b}`.
 */
export function printable(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
}
