import type { Fault } from "./faults.js";

/** Faults of notifications. */
export const webhookFaults = {
  "no-webhook": { check: "webhook.sent", words: "none" },
  "only-some-announced": { check: "webhook.each", words: "none about" },
  "webhook-cut": { check: "webhook.event", words: "a body that can be read as JSON" },
  "event-missing": { check: "webhook.event", words: "a field or header event" },
  "event-misnamed": { check: "webhook.event.name", words: "only the event transaction.changed" },
  "result-under-other-event": {
    check: "webhook.event.name",
    words: "seen it only with the event transaction.changed, in notification",
  },
  unsigned: { check: "webhook.signature", words: "a field or header signature" },
  "signed-reserialised": { check: "webhook.signature.valid", words: "parsed and serialised again" },
  "signed-as-latin-1": {
    check: "webhook.signature.valid",
    words: "of the body as Latin-1 instead of the bytes that were sent",
  },
  "announced-if-ascii": { check: "webhook.each", words: "-é✓" },
  "signed-with-wrong-key": { check: "webhook.signature.valid", words: "with another key" },
  "signed-without-timestamp": {
    check: "webhook.signature.valid",
    words: "a signature of the body alone instead of {header:webhook-id}",
  },
  "signed-with-text-secret": { check: "webhook.signature.valid", words: "with the secret as text" },
  "signed-as-hex": { check: "webhook.signature.valid", words: "written in hex instead of base64" },
  "signed-over-nothing": { check: "webhook.signature.valid", words: "a signature of nothing instead of" },
  "delivery-id-missing": { check: "webhook.delivery-id", words: "a field or header delivery_id" },
  "delivery-id-equal": { check: "webhook.delivery-id.unique", words: "for two transactions" },
  "delivery-id-per-transaction": {
    check: "webhook.delivery-id.unique",
    words: "for two notifications whose bodies differ",
  },
  "delivery-id-reused-later": {
    check: "webhook.delivery-id.every",
    words: "for two transactions",
  },
  "delivery-id-restarts": {
    check: "webhook.delivery-id.unique",
    words: "for two transactions, in notifications",
    isSeenInOthers: true,
  },
  "result-not-announced": { check: "webhook.result", words: "the state completed that GET shows within" },
  "webhook-disagrees": { check: "webhook.result", words: "the state completed that GET shows" },
  "webhook-without-state": {
    check: "webhook.result",
    words: "where webhooks.state of the target file says",
  },
  "webhook-before-get": { check: "webhook.visible", words: "before the change was visible" },
  "failure-not-retried": { check: "webhook.retry", words: "another attempt" },
  "result-not-retried": { check: "webhook.retry", words: "which has the result, was not answered" },
  "unanswered-not-retried": { check: "webhook.retry", words: "was not answered: the receiver closed" },
  "unavailable-not-retried": { check: "webhook.retry", words: "was answered with 503" },
  "redirect-not-retried": { check: "webhook.retry", words: "was answered with 302, which is no 2xx" },
  "too-many-not-retried": { check: "webhook.retry", words: "was answered with 429, which is no 2xx" },
  "timeout-not-retried": {
    check: "webhook.retry.timeout",
    words: "which was not answered until the sender had closed the connection",
  },
  "endpoint-disabled-by-failure": {
    check: "webhook.each.later",
    words: "which was created after notification",
  },
  "retry-has-new-id": { check: "webhook.retry.same-id", words: "at the next attempt" },
  "retry-has-new-id-and-counter": {
    check: "webhook.retry.same-id",
    words: "the same content under the delivery_id",
  },
  "retry-without-id": { check: "webhook.retry.same-id", words: "the same content without a delivery_id" },
  "retry-without-event": {
    check: "webhook.event.every",
    words: "a field or header event, as notification",
  },
  "retry-has-other-event": {
    check: "webhook.event.every",
    words: "at every attempt with the delivery_id",
  },
  "markup-signed-wrongly": {
    check: "webhook.signature.every",
    words: "a signature that verifies over the bytes",
  },
  "emoji-signed-wrongly": {
    check: "webhook.signature.every",
    words: "a signature that verifies over the bytes",
  },
  "signed-up-to-a-length": {
    check: "webhook.signature.every",
    words: "a signature that verifies over the bytes",
  },
  "large-signed-wrongly": {
    check: "webhook.signature.every",
    words: "a signature that verifies over the bytes",
  },
  "third-attempt-has-new-id": {
    check: "webhook.delivery-id.every",
    words: "which was not the first attempt, at the next one too; seen the same content under",
  },
  "third-attempt-signed-wrongly": {
    check: "webhook.signature.every",
    words: "a signature that verifies over the bytes",
  },
  "retry-has-other-result": {
    check: "webhook.result.every",
    words: "the state failed in notification",
  },
  "retry-has-newer-state": {
    check: "webhook.result.every",
    words: "a receiver that has handled the first, and whose answer did not arrive, ignores it",
  },
  "late-result-is-another": {
    check: "webhook.result.every",
    words: "which GET shows, in every notification about it; seen the result failed",
  },
  "webhook-has-other-amount": {
    check: "webhook.members.every",
    words: "as it was sent, in every notification about it; seen the amount",
  },
  "late-amount-is-another": {
    check: "webhook.members.every",
    words: "as it was sent, in every notification about it; seen the amount 9.99",
  },
  "webhook-has-other-reference": {
    check: "webhook.members.every",
    words: "seen the reference another",
  },
  "webhook-amount-through-double": {
    check: "webhook.members.every",
    words: "the amount 0.010000000000000001 of tx_",
  },
  "webhook-has-other-asset": { check: "webhook.members.every", words: "seen the asset EUR" },
  "webhook-without-asset": {
    check: "webhook.members.every",
    words: "where webhooks.asset of the target file says",
  },
  "webhook-without-amount": {
    check: "webhook.members.every",
    words: "where webhooks.amount of the target file says",
  },
  "failed-not-announced": { check: "failed.announced", words: "whose state is failed" },
  "failed-announced-as-completed": {
    check: "failed.announced",
    words: "in the notification with its result; seen the state completed",
  },
  "failed-not-retried": { check: "failed.retry", words: "has failed, was answered with 500" },
  "failed-retry-has-new-id": {
    check: "failed.retry",
    words: "at the next attempt; seen the same content under",
  },
  "failure-signed-wrongly": {
    check: "webhook.signature.every",
    words: "a signature that verifies over the bytes",
    isSeenInOthers: true,
  },
  "long-not-announced": { check: "webhook.each.every", words: "none about tx_" },
  "long-result-not-announced": {
    check: "webhook.each.every",
    words: "a notification with the result of each of",
  },
  "retry-unsigned": { check: "webhook.retry.signed", words: "at the next attempt" },
} as const satisfies Record<string, Fault>;
