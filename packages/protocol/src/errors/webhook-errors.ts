import type { ErrorEntry } from "./error-entry.js";

/** The errors of webhooks. */
export const webhookErrors = {
  WEBHOOK_ENDPOINT_NOT_FOUND: {
    status: 404,
    message: "Webhook endpoint not found.",
    when: "the tenant has no webhook endpoint with this id",
    advice: "Check the id.",
    retry: "never",
  },
  WEBHOOK_DELIVERY_NOT_FOUND: {
    status: 404,
    message: "Webhook delivery not found.",
    when: "the tenant has no webhook delivery with this id, the delivery is older than the retention period, or a resend refers to a deleted endpoint",
    advice: "Check the id; older events can be replayed from their `sequence`.",
    forPeople: "Older events can be replayed from their sequence.",
    retry: "never",
  },
  WEBHOOK_ENDPOINTS_TOO_MANY: {
    status: 409,
    message: "The tenant has reached the maximum number of webhook endpoints.",
    when: "the tenant already has 500 webhook endpoints",
    advice: "Delete one that is not needed.",
    retry: "never",
  },
  WEBHOOK_ENDPOINT_UNVERIFIED: {
    status: 409,
    message: "The webhook endpoint has not answered a challenge yet.",
    when: "a test is requested for an endpoint whose receiver has not answered a challenge",
    advice: "Verify it with `POST /v1/webhook-endpoints/{id}/verify`.",
    forPeople: "Verify the endpoint first.",
    retry: "never",
  },
  WEBHOOK_ENDPOINT_TAMPERED: {
    status: 409,
    message: "The webhook endpoint was changed in the database.",
    when: "something other than the service has created the endpoint or changed where it sends what; nothing is sent to it",
    advice: "Ask the operator. The endpoint can only be deleted, and created again.",
    retry: "never",
  },
  WEBHOOK_BACKLOG_FULL: {
    status: 429,
    message: "Too many webhook deliveries are waiting.",
    when: "failed deliveries are to be resent or events replayed while 10,000 deliveries of the endpoint, or of all enabled endpoints if none is named, are waiting",
    advice: "Wait until deliveries have been sent, and repeat the request.",
    forPeople: "Wait until deliveries have been sent, and try again.",
    retry: "later",
  },
  WEBHOOK_URL_REFUSED: {
    status: 422,
    message: "Webhooks cannot be sent to this URL.",
    when: "`url` is not https, contains credentials, or does not resolve to a public address",
    advice: "Use an `https://` URL with a public host name; `details` says what is wrong.",
    forPeople: "Enter an address that begins with https:// and has a public host name.",
    retry: "never",
  },
} as const satisfies Record<string, ErrorEntry>;
