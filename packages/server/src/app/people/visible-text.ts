import { isVisibleLine, visibleTextFormats } from "@bursar/protocol";
import type { Refused } from "../requests/refused.js";

/*
 * Two people must not look the same in a list because one address has a character that nobody sees. Letters of
 * different scripts that look alike are not distinguished.
 */

/** Controls, characters without a glyph or a meaning of their own, and every space. */
const unseen = /[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]/u;

/** Whether every character of an address can be seen, and none only looks like another: a full-width dot is not a dot. */
export function isVisibleAddress(email: string): boolean {
  return !unseen.test(email) && email.normalize("NFKC") === email;
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
    ...(name === undefined || isVisibleLine(name)
      ? []
      : [{ path: "body.name", reason: visibleTextFormats["visible-line"].reason }]),
  ];
  return details.length === 0 ? undefined : { refused: "INVALID_REQUEST", details };
}
