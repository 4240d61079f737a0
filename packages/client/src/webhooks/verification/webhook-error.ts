/**
 * Why a delivery is not accepted.
 * - `missing_header`: it lacks the id, the time or a signature, so it is no webhook.
 * - `malformed`: a header or the body cannot be read.
 * - `too_old`, `from_the_future`: it was signed too far from now; it may be a replay, or a clock is wrong.
 * - `no_matching_signature`: no signature fits the body and one of the secrets.
 * - `body_already_parsed`: the receiver got an object instead of the bytes that were signed.
 * - `malformed_secret`: a secret of the receiver is not one.
 */
export type WebhookFault =
  | "missing_header"
  | "malformed"
  | "too_old"
  | "from_the_future"
  | "no_matching_signature"
  | "body_already_parsed"
  | "malformed_secret";

export class WebhookError extends Error {
  readonly reason: WebhookFault;

  constructor(reason: WebhookFault, message: string) {
    super(message);
    this.reason = reason;
  }

  override get name(): string {
    return "WebhookError";
  }
}
