/**
 * The hashes that signing a webhook takes, handed in because this package runs on any platform. All texts are hashed as UTF-8 and
 * all results are in base64, the form in which both kinds of signature carry them.
 */
export interface WebhookHashes {
  sha256: (text: string) => string;
  hmacSha256: (secret: Uint8Array, text: string) => string;
}
