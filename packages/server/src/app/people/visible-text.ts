import type { Refused } from "../requests/refused.js";

/*
 * Two people must not look the same in a list because one address has a character that nobody sees, and a name must not change the order of
 * what is written after it. Letters of different scripts that look alike are not distinguished.
 */

/** Controls, characters without a glyph or a meaning of their own, and every space. */
const unseen = /[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]/u;

/**
 * Controls, marks of direction, ends of lines, and the fillers of Hangul, which are letters that nobody sees. The joiners U+200C and U+200D are
 * part of how names are written in several scripts.
 */
const disruptive = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\u115f\u1160\u3164\uffa0]/u;

/** Whether every character of an address can be seen, and none only looks like another: a full-width dot is not a dot. */
export function isVisibleAddress(email: string): boolean {
  return !unseen.test(email) && email.normalize("NFKC") === email;
}

export function isVisibleName(name: string): boolean {
  return !disruptive.test(name);
}

/** The refusal of a body with the address or the name of a person. */
export function refuseUnseen({
  email,
  name,
}: {
  email?: string | undefined;
  name?: string | undefined;
}): Refused | undefined {
  const details = [
    ...(email === undefined || isVisibleAddress(email)
      ? []
      : [{ path: "body.email", reason: "must have visible characters only, in their usual form (NFKC)" }]),
    ...(name === undefined || isVisibleName(name)
      ? []
      : [
          {
            path: "body.name",
            reason: "must not have control characters, invisible characters or marks of direction",
          },
        ]),
  ];
  return details.length === 0 ? undefined : { refused: "INVALID_REQUEST", details };
}
