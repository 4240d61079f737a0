const unsafe = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/**
 * Makes a string of the service safe for a terminal: characters that move the cursor, change colours or the writing direction, break the
 * line, or are not seen, are shown as escapes. Names and references are chosen by others.
 */
export function safe(text: string): string {
  return text.replaceAll(unsafe, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}

/** The same for JSON, whose escapes do not change the value. JSON itself escapes only the characters below a space. */
export function safeJson(value: unknown, indent?: number): string {
  return (JSON.stringify(value, null, indent) ?? "null").replaceAll(unsafe, (character) =>
    character === "\n"
      ? character
      : character
          .split("")
          .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
          .join(""),
  );
}

const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u;

/** The number of columns that a string takes. */
export function widthOf(text: string): number {
  let width = 0;
  for (const character of text) width += /\p{M}/u.test(character) ? 0 : wide.test(character) ? 2 : 1;
  return width;
}

/** At most this many columns. */
export function cut(text: string, widthMax: number): string {
  if (widthOf(text) <= widthMax) return text;
  let kept = "";
  let width = 0;
  for (const character of text) {
    width += widthOf(character);
    if (width > widthMax - 1) break;
    kept += character;
  }
  return `${kept}…`;
}
