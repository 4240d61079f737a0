import { Fragment } from "react";

/** Characters that are not seen, or that change the order in which others are seen. */
const hidden = /[\p{Cc}\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\u2028\u2029]/u;

const shownAtMost = 2000;

export interface TextPart {
  text: string;
  isHidden: boolean;
}

/** Cuts a string into what can be shown as it is, and characters that must be named instead. */
export function partsOf(text: string): TextPart[] {
  const parts: TextPart[] = [];
  for (const character of text) {
    if (hidden.test(character)) {
      parts.push({
        text: `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`,
        isHidden: true,
      });
      continue;
    }
    const last = parts.at(-1);
    if (last !== undefined && !last.isHidden) last.text += character;
    else parts.push({ text: character, isHidden: false });
  }
  return parts;
}

/** The same as a plain string, for places that take no elements. */
export function plainly(text: string): string {
  return partsOf(text)
    .map((part) => part.text)
    .join("");
}

/** A string that somebody else wrote. It cannot turn around or hide what stands next to it. */
export function ForeignText({ text, limit = shownAtMost }: { text: string; limit?: number }) {
  const isCut = text.length > limit;
  const shown = isCut ? text.slice(0, limit) : text;
  if (!isCut && !hidden.test(shown)) return <bdi>{shown}</bdi>;
  return (
    <bdi>
      {partsOf(shown).map((part, index) =>
        part.isHidden ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one string have no other identity, and never move
          <span key={index} className="invisible-character" title="A character that is not visible">
            {part.text}
          </span>
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: as above
          <Fragment key={index}>{part.text}</Fragment>
        ),
      )}
      {isCut && <span className="quiet">… {text.length - limit} more characters</span>}
    </bdi>
  );
}

/** The same for several lines, whose breaks are shown as such. */
export function ForeignLines({ text }: { text: string }) {
  return text.split(/\r?\n/).map((line, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other identity, and never move
    <Fragment key={index}>
      {index > 0 && "\n"}
      <ForeignText text={line} />
    </Fragment>
  ));
}
