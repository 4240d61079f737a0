/** Sends one request to a receiver's address, once, and tells how it went. */
export type WebhookPost = (request: {
  /** Whose receiver it is: nobody waits for connections that another uses. */
  owner: string;
  url: string;
  headers: Record<string, string>;
  body: string;
  /** For all of it: finding the address, connecting, and reading the answer to its end. */
  timeoutMs: number;
}) => Promise<PostOutcome>;

export type PostOutcome =
  /** The excerpt is the first 1 KiB of the answer's body. */
  | { kind: "answered"; status: number; retryAfter: string | undefined; excerpt: string; latencyMs: number }
  /** The address guard says no; nothing was sent. */
  | { kind: "refused"; reason: string; latencyMs: number }
  /** `sent` tells whether the request may have arrived. */
  | { kind: "failed"; reason: string; sent: boolean; latencyMs: number };

/** Judges a receiver's URL when it is registered; what its name resolves to is judged at every connection. */
export type UrlJudge = (url: string) => { ok: true } | { ok: false; reason: string };
