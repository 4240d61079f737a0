import type { ErrorEntry } from "./error-entry.js";

/** The part of the catalog that is about webhooks. */
export const webhookErrors = {
  WEBHOOK_ENDPOINT_NOT_FOUND: {
    status: 404,
    message: "There is no such webhook endpoint.",
    when: "the tenant has no webhook endpoint with this id",
    advice: "Check the id.",
    retry: "never",
  },
  WEBHOOK_DELIVERY_NOT_FOUND: {
    status: 404,
    message: "There is no such webhook delivery.",
    when: "the tenant has no webhook delivery with this id, or it is older than deliveries are kept, or it was to be sent again and its endpoint is deleted",
    advice: "Check the id; what is older can be replayed from its `sequence`.",
    retry: "never",
  },
  WEBHOOK_ENDPOINTS_TOO_MANY: {
    status: 409,
    message: "The tenant has as many webhook endpoints as it can have.",
    when: "a webhook endpoint is created and the tenant has 500 already",
    advice: "Delete one that is not needed.",
    retry: "never",
  },
  WEBHOOK_URL_REFUSED: {
    status: 422,
    message: "Webhooks cannot be sent to this URL.",
    when: "a webhook endpoint's `url` is not https, has credentials in it, or does not lead to a public address",
    advice: "Use an `https://` URL with a public name; `details` says what is wrong.",
    retry: "never",
  },
} as const satisfies Record<string, ErrorEntry>;
