/** Sends one request to a receiver, once, and returns the outcome. */
export type WebhookPost = (request: {
  /** The tenant of the receiver: tenants do not wait for each other's connections. */
  tenantId: string;
  url: string;
  headers: Record<string, string>;
  body: string;
  /** Covers the look-up of the address, the connection, and the whole response. */
  timeoutMs: number;
}) => Promise<PostOutcome>;

export type PostOutcome =
  /** The excerpt is the first 1 KiB of the answer's body. */
  | { kind: "answered"; status: number; retryAfter: string | undefined; excerpt: string; latencyMs: number }
  /** The URL or its address is not allowed; nothing was sent. */
  | { kind: "refused"; reason: string; latencyMs: number }
  /** `sent` says whether the request may have arrived. */
  | { kind: "failed"; reason: string; sent: boolean; latencyMs: number };

/** Judges a receiver's URL when it is registered; what its name resolves to is judged at every connection. */
export type UrlJudge = (url: string) => { ok: true } | { ok: false; reason: string };
