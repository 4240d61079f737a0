import { swapCase } from "../engine/altered-ids.js";
import type { Kit } from "../engine/kit.js";

/** What is like the token of a run, and is not it. */

/** Values of Authorization that contain the token or are a part of it. */
export function likeToken({ session }: Kit): [what: string, authorization: string][] {
  const { token, secrets } = session;
  const half = Math.ceil(token.length / 2);
  const variants: [string, string, string][] = [
    ["the token with characters after it", `${token}x7`, "$LONGER_TOKEN"],
    ["the token with characters before it", `x7${token}`, "$TOKEN_AFTER_CHARACTERS"],
    ["the token with a word after it", `${token} x7`, "$TOKEN_AND_WORD"],
    ["the token with a comma and characters after it", `${token},x7`, "$TOKEN_AND_COMMA"],
    ["the token with a dot and characters after it", `${token}.x7`, "$TOKEN_AND_DOT"],
    ["the first half of the token", token.slice(0, half), "$FIRST_HALF_OF_TOKEN"],
    ["the second half of the token", token.slice(half), "$SECOND_HALF_OF_TOKEN"],
    ["the token with its last character changed", alterLast(token), "$TOKEN_WITH_OTHER_END"],
  ];
  variants.push(...cutTokens(token), ...alteredWithin(token));
  const reversed = [...token].reverse().join("");
  if (reversed !== token)
    variants.push(["the characters of the token in reverse", reversed, "$REVERSED_TOKEN"]);
  const swapped = swapCase(token);
  // Digits of a number are the same in either case.
  if (swapped !== token && !/^[\da-f-]*$/i.test(token))
    variants.push(["the token in other case", swapped, "$TOKEN_IN_OTHER_CASE"]);
  for (const [, variant, name] of variants) secrets.set(variant, name);
  // What programs write for a token that they do not have, and what stands for any.
  const words = ["null", "undefined", "*"].map((word) => [`the word ${word}`, word, ""] as const);
  return [...words, ...variants].map(([what, variant]) => [what, `Bearer ${variant}`]);
}

/** So many characters are left out at the end: a signature that is compared as far as it goes is valid then. */
const cutLengths = [1, 2, 4, 12, 20];

function cutTokens(token: string): [string, string, string][] {
  // What pads base 64 is without meaning.
  const whole = token.replace(/=+$/, "");
  const cut = cutLengths
    .filter((length) => 2 * length < whole.length)
    .map((length): [string, string, string] => [
      `the token without its last ${length === 1 ? "character" : `${length} characters`}`,
      whole.slice(0, -length),
      `$TOKEN_WITHOUT_${length}`,
    ]);
  const dot = token.lastIndexOf(".");
  if (dot > 0 && dot < token.length - 1)
    cut.push(["the token with nothing after its last dot", token.slice(0, dot + 1), "$TOKEN_WITHOUT_END"]);
  return cut;
}

/** What a token says is often in the middle of it, such as until when it is valid, with a signature after it. */
function alteredWithin(token: string): [string, string, string][] {
  const parts = token.split(".");
  const at = Math.floor((parts.length - 1) / 2);
  const [first, last] = [parts.slice(0, at), parts.slice(at + 1)];
  const alter = (pattern: RegExp) => {
    const part = parts[at] ?? "";
    const half = Math.floor(part.length / 2);
    const found = part.slice(half).search(pattern);
    const place = found < 0 ? part.search(pattern) : half + found;
    if (place < 0) return undefined;
    const isDigit = /\d/.test(part[place] ?? "");
    const other = isDigit ? String((Number(part[place]) + 1) % 10) : part[place] === "m" ? "n" : "m";
    return [...first, part.slice(0, place) + other + part.slice(place + 1), ...last].join(".");
  };
  const altered: [string, string | undefined, string][] = [
    ["the token with a letter in its middle changed", alter(/[a-z]/i), "$TOKEN_WITH_OTHER_MIDDLE"],
    ["the token with a digit in its middle changed", alter(/\d/), "$TOKEN_WITH_OTHER_DIGIT"],
  ];
  return altered.flatMap(([what, value, name]) => (value === undefined ? [] : [[what, value, name]]));
}

/** Values of Authorization that have the whole token, spelt as parsers and decoders that are not strict understand it. */
export function otherSpellings({ session }: Kit): [how: string, authorization: string][] {
  const { token, secrets } = session;
  const half = Math.ceil(token.length / 2);
  const inside = (sign: string) => `${token.slice(0, half)}${sign}${token.slice(half)}`;
  const escaped = `%${token.charCodeAt(0).toString(16).padStart(2, "0")}${token.slice(1)}`;
  secrets
    .set(inside(" "), "$TOKEN_WITH_SPACE")
    .set(inside("!"), "$TOKEN_WITH_SIGN")
    .set(escaped, "$ESCAPED_TOKEN");
  return [
    ["in quotes", `Bearer "${token}"`],
    ["with a space in it", `Bearer ${inside(" ")}`],
    ["with an exclamation mark in it", `Bearer ${inside("!")}`],
    ["with an equals sign after it", `Bearer ${token}=`],
    ["with a character percent-encoded", `Bearer ${escaped}`],
    ["without the space after Bearer", `Bearer${token}`],
    ["with a colon after Bearer", `Bearer: ${token}`],
    ["after Bearer twice", `Bearer Bearer ${token}`],
    ["as the parameter token", `Bearer token="${token}"`],
  ];
}

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/** Changes the highest bit of the last character in base 64, because the lowest ones of the last character can be without meaning. */
function alterLast(token: string): string {
  const at = token.search(/[\w-][^\w-]*$/);
  if (at < 0) return `${token}0`;
  const other = alphabet[(alphabet.indexOf(token[at] ?? "A") + alphabet.length / 2) % alphabet.length];
  return `${token.slice(0, at)}${other}${token.slice(at + 1)}`;
}

/** Changes a character well inside the token: the last one of a base64 string can have bits that do not count. */
export function alterToken(token: string): string {
  const at = Math.max(0, token.length - 8);
  const other = token[at]?.toUpperCase() === "A" ? "B" : "A";
  return token.slice(0, at) + other + token.slice(at + 1);
}
