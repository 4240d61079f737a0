import type { Exchange } from "../http/send.js";

/** Shorter words can be in a response by chance. */
const tellingLength = 6;
/** Of many questions about one transaction, the first and the last tell most. */
const readsMax = 12;

/**
 * The exchanges that the sentences of a failure are about, whatever check has caused them: those that are named by their number, and of what is
 * named by its id, the request that created it and the questions about it. A check that looks at the whole run has sent none of them itself.
 */
export function namedExchanges(all: readonly Exchange[], sentences: string): Exchange[] {
  const numbers = new Set([...sentences.matchAll(/exchange (\d+)/g)].map(([, number]) => Number(number)));
  const named = all.filter(({ index }) => numbers.has(index));
  for (const word of new Set(sentences.match(/[\w~.-]+[\w~-]/g) ?? [])) {
    if (word.length < tellingLength) continue;
    const creation = all.find((one) => isCreation(one) && hasWord(textOf(one), word));
    if (creation === undefined) continue;
    const reads = all.filter(
      ({ request }) => request.method === "GET" && request.url.pathname.endsWith(`/${word}`),
    );
    const half = readsMax / 2;
    named.push(
      creation,
      ...(reads.length > readsMax ? [...reads.slice(0, half), ...reads.slice(-half)] : reads),
    );
  }
  return [...new Set(named)];
}

const isCreation = ({ request, response }: Exchange) =>
  request.method === "POST" &&
  request.url.pathname.endsWith("/v1/transactions") &&
  response !== undefined &&
  response.status < 400;

const textOf = ({ response }: Exchange) =>
  response === undefined
    ? ""
    : `${response.headers.map(([, value]) => value).join("\n")}\n${response.body.toString("utf8")}`;

/** A name is not the beginning of a longer one. */
function hasWord(text: string, word: string): boolean {
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    const around = (text[at - 1] ?? " ") + (text[at + word.length] ?? " ");
    if (!/[\w-]/.test(around)) return true;
  }
  return false;
}
