import { type Static, Type } from "typebox";
import { Page } from "../pagination.js";

const Timestamp = Type.String({ format: "date-time" });
const Url = Type.String({
  minLength: 1,
  maxLength: 2048,
  description:
    "Where to send: `https://` and a public name. The sandbox also takes `http://` on the same machine.",
});
const Description = Type.String({ maxLength: 256 });

/** What an endpoint can be told of; `*` is all, also what will be added. */
const eventFilters = [
  "*",
  "transaction.updated",
  "wallet.updated",
  "order.updated",
  "endpoint.disabled",
] as const;
// The items say that they are texts, so that the check for repeated ones is by hash and not pair by pair.
const Events = Type.Array(Type.Enum([...eventFilters], { type: "string" }), {
  uniqueItems: true,
  minItems: 1,
  maxItems: eventFilters.length,
});

const endpointFields = {
  id: Type.String({ description: "Also the `keyid` of its RFC 9421 signatures." }),
  object: Type.Literal("webhook_endpoint"),
  url: Type.String(),
  events: Events,
  description: Type.Union([Type.String(), Type.Null()]),
  state: Type.Enum(["enabled", "disabled", "deleted"], {
    description: "`deleted` is seen in the answer to deleting it, and never again.",
  }),
  disabled_reason: Type.Union([Type.Enum(["requested", "gone", "failing"]), Type.Null()], {
    description:
      "`requested`: by a client. `gone`: the receiver answered 410. `failing`: nothing had arrived for five days.",
  }),
  disabled_at: Type.Union([Timestamp, Type.Null()]),
  failing_since: Type.Union([Timestamp, Type.Null()], {
    description: "Since when nothing has arrived there; null where the last attempt has.",
  }),
  old_secret_until: Type.Union([Timestamp, Type.Null()], {
    description: "Until when deliveries are signed with the secret before this one, too.",
  }),
  version: Type.Integer(),
  created_at: Timestamp,
  updated_at: Timestamp,
};

export const WebhookEndpoint = Type.Object(endpointFields, { $id: "WebhookEndpoint" });
export type WebhookEndpoint = Static<typeof WebhookEndpoint>;

export const CreatedWebhookEndpoint = Type.Object(
  {
    ...endpointFields,
    secret: Type.Union([Type.String(), Type.Null()], {
      description:
        "`whsec_…`, shown this once. Null when the request repeats an earlier one by its idempotency key.",
    }),
  },
  { $id: "CreatedWebhookEndpoint" },
);

export const WebhookEndpointPage = Page(WebhookEndpoint, "WebhookEndpointPage");
export const WebhookEndpointPath = Type.Object({ id: Type.String() });

export const CreateWebhookEndpointBody = Type.Object(
  {
    url: Url,
    events: Type.Optional(Events),
    description: Type.Optional(Description),
  },
  { additionalProperties: false },
);
export type CreateWebhookEndpointBody = Static<typeof CreateWebhookEndpointBody>;

export const ChangeWebhookEndpointBody = Type.Object(
  {
    url: Type.Optional(Url),
    events: Type.Optional(Events),
    description: Type.Optional(Type.Union([Description, Type.Null()])),
  },
  { additionalProperties: false, minProperties: 1 },
);
export type ChangeWebhookEndpointBody = Static<typeof ChangeWebhookEndpointBody>;

export const RotateWebhookSecretBody = Type.Object(
  {
    overlap_seconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 2_592_000,
        description: "How long the secret before signs too; one day where it is left out.",
      }),
    ),
  },
  { additionalProperties: false },
);

export const RotatedWebhookSecret = Type.Object(
  { webhook_endpoint: WebhookEndpoint, secret: Type.String({ description: "Shown this once." }) },
  { $id: "RotatedWebhookSecret" },
);

export const WebhookTest = Type.Object(
  {
    delivery_id: Type.String(),
    delivered: Type.Boolean({ description: "Whether the receiver answered with a 2xx status." }),
    status: Type.Union([Type.Integer(), Type.Null()]),
    latency_ms: Type.Integer(),
    error: Type.Union([Type.String(), Type.Null()]),
    answer: Type.Union([Type.String(), Type.Null()], { description: "The first 1 KiB of the answer." }),
  },
  { $id: "WebhookTest" },
);
export type WebhookTest = Static<typeof WebhookTest>;
