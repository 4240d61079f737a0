import { type Static, Type } from "typebox";
import { exampleIds } from "../examples/example-ids.js";
import { Page, PageQuery } from "../pagination.js";
import { CreatedBy, Nullable, OneOf, PathId, Timestamp } from "../values.js";
import { eventKinds } from "./event.js";

const Url = Type.String({
  minLength: 1,
  maxLength: 2048,
  description:
    "An `https://` URL with a public host name. The sandbox also accepts `http://` on the same machine.",
});
const Description = Type.String({ maxLength: 256 });

/** The event kinds that an endpoint can subscribe to; `*` stands for all, including future ones. */
const eventFilters = ["*", ...eventKinds] as const;
const Events = Type.Array(OneOf(eventFilters), {
  uniqueItems: true,
  minItems: 1,
  maxItems: eventFilters.length,
});

const keyIdText = "`whk_…`: the `keyid` of the RFC 9421 signatures that are made with this secret.";
const KeyId = Nullable(Type.String(), `${keyIdText} Null if no secret is shown.`);

const endpointFields = {
  id: Type.String(),
  object: Type.Literal("webhook_endpoint"),
  url: Type.String(),
  events: Events,
  description: Nullable(Type.String()),
  client_id: Nullable(
    Type.String(),
    "The client that the endpoint acts for: the one that created it, or named its `url` in a later change; null for the operator. The endpoint receives only the kinds of events that this client may read.",
  ),
  state: OneOf(["pending", "enabled", "disabled", "deleted"], {
    description:
      "`pending`: nothing is sent until the receiver has answered a challenge. `deleted` appears only in the response to the deletion.",
  }),
  verified_at: Nullable(
    Timestamp(),
    "When the receiver at this URL answered a challenge; null if it has not yet.",
  ),
  disabled_reason: Nullable(
    OneOf(["requested", "gone", "failing", "client_disabled", "tampered"]),
    "`requested`: by a client. `gone`: the receiver answered 410. `failing`: no delivery succeeded for five days. `client_disabled`: the client in `client_id` is disabled; deliveries wait until it is enabled, or until another client names the URL and so takes the endpoint over. `tampered`: something other than the service has changed it in the database; it can only be deleted.",
  ),
  disabled_at: Nullable(Timestamp()),
  failing_since: Nullable(
    Timestamp(),
    "The time since which no delivery has succeeded; null if the last attempt succeeded.",
  ),
  old_secret_until: Nullable(Timestamp(), "Until then, deliveries are also signed with the previous secret."),
  version: Type.Integer(),
  created_by: CreatedBy,
  created_at: Timestamp(),
  updated_at: Timestamp(),
};

export const WebhookEndpoint = Type.Object(endpointFields, { $id: "WebhookEndpoint" });
export type WebhookEndpoint = Static<typeof WebhookEndpoint>;

export const CreatedWebhookEndpoint = Type.Object(
  {
    ...endpointFields,
    secret: Nullable(
      Type.String(),
      "`whsec_…`, shown only once. Null if the request repeats an earlier one by its idempotency key.",
    ),
    key_id: KeyId,
  },
  { $id: "CreatedWebhookEndpoint" },
);

export const WebhookEndpointPage = Page(WebhookEndpoint, "WebhookEndpointPage");
export const WebhookEndpointQuery = PageQuery("endpoints");
export const WebhookEndpointPath = Type.Object({
  id: PathId("The id of the webhook endpoint.", exampleIds.endpoint),
});

export const CreateWebhookEndpointBody = Type.Object(
  {
    url: Url,
    events: Type.Optional(Events),
    description: Type.Optional(Description),
  },
  { $id: "CreateWebhookEndpointBody", additionalProperties: false },
);
export type CreateWebhookEndpointBody = Static<typeof CreateWebhookEndpointBody>;

export const ChangeWebhookEndpointBody = Type.Object(
  {
    url: Type.Optional(Url),
    events: Type.Optional(Events),
    description: Type.Optional(Nullable(Description)),
  },
  { $id: "ChangeWebhookEndpointBody", additionalProperties: false, minProperties: 1 },
);
export type ChangeWebhookEndpointBody = Static<typeof ChangeWebhookEndpointBody>;

export const ChangedWebhookEndpoint = Type.Object(
  {
    ...endpointFields,
    secret: Nullable(
      Type.String(),
      "The new secret, shown only once, if the URL or the client that the endpoint acts for has changed; null otherwise.",
    ),
    key_id: KeyId,
  },
  { $id: "ChangedWebhookEndpoint" },
);

export const WebhookVerification = Type.Object(
  {
    webhook_endpoint: WebhookEndpoint,
    verified: Type.Boolean({ description: "Whether the receiver has answered a challenge." }),
    status: Nullable(Type.Integer(), "The status of the receiver's response; null if there was none."),
    error: Nullable(Type.String(), "Why the endpoint is not verified."),
  },
  { $id: "WebhookVerification" },
);

export const RotateWebhookSecretBody = Type.Object(
  {
    overlap_seconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 2_592_000,
        description: "How long the previous secret also signs. Defaults to one day.",
      }),
    ),
  },
  { $id: "RotateWebhookSecretBody", additionalProperties: false },
);

export const RotatedWebhookSecret = Type.Object(
  {
    webhook_endpoint: WebhookEndpoint,
    secret: Nullable(
      Type.String(),
      "Shown only once. Null if the request repeats an earlier one by its idempotency key.",
    ),
    key_id: KeyId,
  },
  { $id: "RotatedWebhookSecret" },
);

export const WebhookTest = Type.Object(
  {
    delivery_id: Type.String(),
    delivered: Type.Boolean({ description: "Whether the receiver answered with a 2xx status." }),
    status: Nullable(Type.Integer()),
    latency_ms: Type.Integer(),
    error: Nullable(Type.String()),
    answer: Nullable(Type.String(), "The first 1 KiB of the response."),
  },
  { $id: "WebhookTest" },
);
export type WebhookTest = Static<typeof WebhookTest>;
