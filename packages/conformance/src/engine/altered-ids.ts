/** Ids that are like one of a transaction, and that no transaction of the run has. */

/** An id of the same form that is none of the known ones. */
export function alterId(id: string, known: ReadonlySet<string> = new Set()): string {
  const characters = [...id];
  const at = characters.findLastIndex((one) => /[0-9a-z]/i.test(one));
  const middle = Math.floor(at * 0.8);
  const flip = (character: string) => (character === "7" ? "3" : "7");
  let altered =
    at < 0
      ? `${id}0`
      : characters
          .map((one, index) => (index === at || (index === middle && /\d/.test(one)) ? flip(one) : one))
          .join("");
  while (altered === id || known.has(altered)) altered += "7";
  return altered;
}

/** Ids that a comparison by the beginning, by a pattern or without case takes for this one. */
export function idsLike(id: string, known: ReadonlySet<string> = new Set()): string[] {
  const characters = [...id];
  const cut = (length: number) => characters.slice(0, length).join("");
  // What stands for any character, or any number of them, in a query; in place of one that is not such a sign itself.
  const at = characters.findLastIndex((one) => one !== "_" && one !== "%");
  const patterns = [`${cut(at)}_${characters.slice(at + 1).join("")}`, `${cut(at)}%`];
  const shorter = characters.length > 1 ? [cut(characters.length - 1), ...(at < 0 ? [] : patterns)] : [];
  // An id in which both cases occur is not a number, so its case counts.
  const hasBothCases = /[a-z]/.test(id) && /[A-Z]/.test(id);
  const like = [`${id}x7`, ...shorter, ...(hasBothCases ? [swapCase(id)] : [])];
  // A path that ends with dots leads elsewhere.
  const isPath = (one: string) => one === "." || one === "..";
  return [...new Set(like)].filter((one) => one !== id && !known.has(one) && !isPath(one));
}

export const swapCase = (text: string) =>
  [...text].map((one) => (one === one.toLowerCase() ? one.toUpperCase() : one.toLowerCase())).join("");
