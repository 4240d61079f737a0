import { readBounded } from "../runtime/read-bounded.js";

/** Documents, keys and tokens of providers have a few kilobytes. */
export const answerBytesMax = 256 * 1024;

/**
 * `fetch` for servers that are not trusted with this process: an answer is read up to a bound, after it was decompressed, before anything
 * parses it. A longer one, or one in many small pieces, fails as a broken connection does.
 */
export async function boundedFetch(url: string, options: RequestInit): Promise<Response> {
  const response = await fetch(url, options);
  if (response.body === null) return response;
  const answer = await readBounded(response.body, answerBytesMax);
  if (answer === undefined)
    throw new TypeError("fetch failed", {
      cause: `${url} answers with more than ${answerBytesMax} bytes, or in too many pieces`,
    });
  const { status, statusText, headers } = response;
  return new Response(new Uint8Array(answer), { status, statusText, headers });
}
