/**
 * The hash functions that sign a webhook, passed in because this package runs on any platform. Strings are hashed as UTF-8, and
 * results are in base64, which both kinds of signature use.
 */
export interface WebhookHashes {
  sha256: (content: string) => string;
  hmacSha256: (secret: Uint8Array, content: string) => string;
}
