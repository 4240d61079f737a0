import { type Bursar, createBursar } from "@bursar/client";
import type { Target } from "../profiles/target.js";
import { cut, safe, safeJson } from "../terminal/safe-text.js";

export type TourClient = Bursar;

const shownMax = 150;

/** A client that prints each request and the status of each response. */
export function createTourClient(
  { url, credentials }: Target,
  print: (line: string) => void,
  signal?: AbortSignal,
): TourClient {
  return createBursar({
    baseUrl: url,
    credentials,
    // The tour shows a refusal, not the retries after it.
    retriesMax: 0,
    ...(signal === undefined ? {} : { signal }),
    fetch: async (address, init) => {
      const { pathname, search } = new URL(address);
      const key = (init.headers as Record<string, string>)["idempotency-key"];
      const shownKey = key === undefined ? "" : ` [Idempotency-Key: ${key}]`;
      const sent = `> ${init.method} ${pathname}${search}${shownKey} ${bodyOf(pathname, init.body)}`;
      print(cut(safe(sent.trimEnd()), shownMax));
      const response = await globalThis.fetch(address, init);
      print(cut(safe(`< ${response.status} ${await summaryOf(response.clone(), pathname)}`), shownMax));
      return response;
    },
  });
}

/** The form of a token request has the secret in it. */
function bodyOf(pathname: string, body: unknown): string {
  if (pathname.startsWith("/oauth/")) return "grant_type=client_credentials (and the secret)";
  return typeof body === "string" ? body : "";
}

interface Shown {
  id?: string;
  state?: string;
  error?: { code?: string; message?: string } | string | null;
  data?: unknown;
}

async function summaryOf(response: Response, pathname: string): Promise<string> {
  if (pathname.startsWith("/oauth/")) return "an access token for 15 minutes";
  const body = (await response.json().catch(() => ({}))) as Shown;
  const { id, state, error, data } = body;
  if (!response.ok && typeof error === "object" && error !== null) return `${error.code}: ${error.message}`;
  if (Array.isArray(data)) return data.length === 1 ? "1 item" : `${data.length} items`;
  return [id, state].filter(Boolean).join(" ") || safeJson(body);
}
