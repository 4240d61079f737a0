import { Type } from "typebox";

/*
 * What people read who decide or examine something must not hide a part of itself, or change the order of what is written after it. Letters of
 * different scripts that look alike are not distinguished.
 */

/** Controls, marks of direction, ends of lines, halves of pairs, private characters, and all that a font shows as nothing. */
const disruptive = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;

/** The joiners are part of how words are written in several scripts, but nobody sees them between letters of these. */
const joiners =
  /(?<=(?![\p{sc=Latin}\p{sc=Greek}\p{sc=Cyrillic}\p{sc=Armenian}\p{sc=Hebrew}\p{sc=Georgian}\p{sc=Han}\p{sc=Hangul}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Zyyy}\p{sc=Zinh}])[\p{L}\p{M}])[\u200c\u200d](?=[\p{L}\p{M}])/gu;

/** What an emoji can consist of: a joiner is between two of them, and a selector changes how one is shown. */
const emoji =
  /\p{Extended_Pictographic}\p{EMod}?[\ufe0e\ufe0f]?(?:\u200d\p{Extended_Pictographic}\p{EMod}?\ufe0f?)*|[0-9#*]\ufe0f\u20e3/gu;

/** Whether it is one line, every character of which can be seen. */
export function isVisibleLine(text: string): boolean {
  return !disruptive.test(text.replace(emoji, " ").replace(joiners, ""));
}

/** The same with line feeds. */
export function isVisibleText(text: string): boolean {
  return isVisibleLine(text.replaceAll("\n", ""));
}

/** The names of the rules in schemas. Not patterns: few languages have the classes of characters that the rules are made of. */
export const visibleTextFormats = {
  "visible-line": {
    test: isVisibleLine,
    reason: "must not have control characters, invisible characters or marks of direction",
  },
  "visible-text": {
    test: isVisibleText,
    reason: "must not have control characters except line feeds, invisible characters or marks of direction",
  },
} as const;

const stringOf = (format: keyof typeof visibleTextFormats, maxLength: number, description: string) =>
  Type.String({ minLength: 1, maxLength, format, description });

export const VisibleLine = (maxLength: number, about = "") =>
  stringOf(
    "visible-line",
    maxLength,
    `${about}One line without control characters, invisible characters and marks of direction.`,
  );

export const VisibleText = (maxLength: number) =>
  stringOf(
    "visible-text",
    maxLength,
    "Without control characters except line feeds, invisible characters and marks of direction.",
  );
