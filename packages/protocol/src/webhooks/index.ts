/** Signing and verifying webhooks, without the schemas of their bodies: a receiver that needs nothing else does not load those. */
export {
  type StandardWebhook,
  signStandardWebhook,
  verifyStandardWebhook,
} from "./standard-webhook.js";
export type { Verification, VerificationClock } from "./verification.js";
export type { WebhookHashes } from "./webhook-hashes.js";
export {
  signWebhookMessage,
  verifyWebhookMessage,
  type WebhookKey,
  type WebhookMessage,
  type WebhookMessageHeaders,
} from "./webhook-message.js";
export { formatWebhookSecret, parseWebhookSecret, webhookKeyId } from "./webhook-secret.js";
