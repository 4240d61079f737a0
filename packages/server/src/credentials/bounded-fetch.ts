import { clientHandshake } from "../runtime/client-handshake.js";
import { readBounded } from "../runtime/read-bounded.js";

/** Documents, keys and tokens of providers have a few kilobytes. */
export const answerBytesMax = 256 * 1024;

/**
 * `fetch` for servers that are not trusted with this process: they cannot choose a handshake that takes long, and an answer is read up to a
 * bound, after it was decompressed, before anything parses it. A longer one, or one in many small pieces, fails as a broken connection does.
 */
export function createBoundedFetch(): (url: string, options: RequestInit) => Promise<Response> {
  // Loaded with the first request: many processes never send one.
  const load = async () => {
    const { default: undici } = await import("undici");
    return { fetch: undici.fetch, dispatcher: new undici.Agent({ connect: clientHandshake }) };
  };
  let loaded: ReturnType<typeof load> | undefined;
  return async (url, options) => {
    loaded ??= load();
    const { fetch, dispatcher } = await loaded;
    // The two differ only in the types of dispatchers.
    const response = await fetch(url, { ...(options as object), dispatcher });
    const { status, statusText } = response;
    const headers = [...response.headers];
    if (response.body === null) return new Response(null, { status, statusText, headers });
    const answer = await readBounded(response.body, answerBytesMax);
    if (answer === undefined)
      throw new TypeError("fetch failed", {
        cause: `${url} answers with more than ${answerBytesMax} bytes, or in too many pieces`,
      });
    return new Response(new Uint8Array(answer), { status, statusText, headers });
  };
}
