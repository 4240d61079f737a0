/** Documents, keys and tokens of providers have a few kilobytes. */
export const answerBytesMax = 256 * 1024;

/**
 * `fetch` for servers that are not trusted with this process: an answer is read up to a bound, after it was decompressed, before anything
 * parses it. A longer one fails as a broken connection does.
 */
export async function boundedFetch(url: string, options: RequestInit): Promise<Response> {
  const response = await fetch(url, options);
  if (response.body === null) return response;
  const chunks: Uint8Array[] = [];
  let length = 0;
  // Leaving the loop ends the connection.
  for await (const chunk of response.body) {
    length += chunk.length;
    if (length > answerBytesMax)
      throw new TypeError("fetch failed", { cause: `${url} answers with more than ${answerBytesMax} bytes` });
    chunks.push(chunk);
  }
  const { status, statusText, headers } = response;
  return new Response(Buffer.concat(chunks), { status, statusText, headers });
}
