/**
 * What a target sends can contain sequences that move the cursor, change the title of a terminal or reverse the direction of a line. All
 * control and format characters but the line feed are shown as escapes.
 */
export function safeText(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Co}\u2028\u2029]/gu, (character) =>
    character === "\n" ? character : escapeOf(character),
  );
}

/** The same, on one line. */
export function safeLine(text: string): string {
  return safeText(text).replaceAll("\n", "\\n");
}

function escapeOf(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}
