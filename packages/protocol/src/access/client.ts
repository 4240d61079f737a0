import { type Static, Type } from "typebox";
import { exampleIds } from "../examples/example-ids.js";
import { Page, PageQuery } from "../pagination.js";
import { AddedBy, CreatedBy, Nullable, OneOf, PathId, Timestamp } from "../values.js";
import { ClientQuotas } from "./quota.js";
import { allScopes } from "./scopes.js";

const Name = Type.String({ minLength: 1, maxLength: 128 });
const Scopes = Type.Array(OneOf(allScopes), {
  uniqueItems: true,
  maxItems: allScopes.length,
});
const KeyAlgorithm = OneOf(["ed25519", "hmac-sha256"]);

const LastUsedAt = Nullable(Timestamp(), "To the minute. Null if it was never used.");
const ExpiresAt = Type.Optional(
  Timestamp("When it stops working, as do the tokens that were issued with it. Defaults to never."),
);

const ClientSecret = Type.Object(
  {
    id: Type.String(),
    added_by: AddedBy,
    created_at: Timestamp(),
    expires_at: Nullable(Timestamp()),
    last_used_at: LastUsedAt,
  },
  { $id: "ClientSecret" },
);

const ClientKey = Type.Object(
  {
    id: Type.String({ description: "The `keyid` of a signed request and the `kid` of a client assertion." }),
    algorithm: KeyAlgorithm,
    public_key: Nullable(Type.String(), "Base64url of the 32 bytes; null for a shared secret."),
    added_by: AddedBy,
    created_at: Timestamp(),
    expires_at: Nullable(Timestamp()),
    last_used_at: LastUsedAt,
  },
  { $id: "ClientKey" },
);

const clientFields = {
  id: Type.String({ description: "The `client_id` of OAuth." }),
  object: Type.Literal("client"),
  kind: OneOf(["program", "person"], { description: "People are managed under `/v1/people`." }),
  name: Name,
  scopes: Scopes,
  state: OneOf(["active", "disabled"]),
  require_signature: Type.Boolean({ description: "Whether its requests must be signed." }),
  quotas: ClientQuotas,
  secrets: Type.Array(ClientSecret),
  keys: Type.Array(ClientKey),
  created_by: CreatedBy,
  authority_changed_by: Nullable(
    Type.String(),
    "The id of the client that last changed its credentials, scopes, state or `require_signature`; null if the operator did.",
  ),
  authority_changed_at: Timestamp(
    "Approvals by this client do not count for transactions that were requested before this time.",
  ),
  created_at: Timestamp(),
  updated_at: Timestamp(),
};

export const Client = Type.Object(clientFields, { $id: "Client" });
export type Client = Static<typeof Client>;

export const CreatedClient = Type.Object(
  {
    ...clientFields,
    secret: Nullable(
      Type.String(),
      "Shown only once. Null if the request repeats an earlier one by its idempotency key.",
    ),
  },
  { $id: "CreatedClient" },
);

export const ClientPage = Page(Client, "ClientPage");

export const ClientQuery = PageQuery("clients");

const ClientId = PathId("The id of the client.", exampleIds.client);
export const ClientPath = Type.Object({ client_id: ClientId });
export const ClientSecretPath = Type.Object({
  client_id: ClientId,
  secret_id: PathId("The id of the secret.", exampleIds.secret),
});
export const ClientKeyPath = Type.Object({
  client_id: ClientId,
  key_id: PathId("The id of the key.", exampleIds.key),
});

export const CreateClientBody = Type.Object(
  {
    name: Name,
    scopes: Scopes,
    require_signature: Type.Optional(Type.Boolean({ description: "Defaults to false." })),
  },
  { $id: "CreateClientBody", additionalProperties: false },
);
export type CreateClientBody = Static<typeof CreateClientBody>;

export const ChangeClientBody = Type.Object(
  {
    name: Type.Optional(Name),
    scopes: Type.Optional(Scopes),
    state: Type.Optional(OneOf(["active", "disabled"])),
    require_signature: Type.Optional(Type.Boolean()),
    quotas: Type.Optional(ClientQuotas),
    cancel: Type.Optional(
      Type.Array(OneOf(["orders", "transactions"]), {
        uniqueItems: true,
        maxItems: 2,
        description:
          "What to cancel of what a disabled client has requested. Its open orders are always cancelled. Its transactions wait if they are not listed here: they are not processed until the client is enabled again, and any client with `transactions:write` can cancel them.",
      }),
    ),
  },
  { $id: "ChangeClientBody", additionalProperties: false, minProperties: 1 },
);
export type ChangeClientBody = Static<typeof ChangeClientBody>;

export const RotateSecretBody = Type.Object(
  {
    overlap_seconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 2_592_000,
        description: "How long the previous secret stays valid. Defaults to one day.",
      }),
    ),
    expires_at: ExpiresAt,
  },
  { $id: "RotateSecretBody", additionalProperties: false },
);

export const RotateOwnSecretBody = Type.Object(
  {
    ...RotateSecretBody.properties,
    current_secret: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        description:
          "The newest valid secret of the client. Required unless the request is signed with a key of the client.",
      }),
    ),
  },
  { $id: "RotateOwnSecretBody", additionalProperties: false },
);
export type RotateOwnSecretBody = Static<typeof RotateOwnSecretBody>;

export const RotatedSecret = Type.Object(
  {
    client: Client,
    secret: Nullable(
      Type.String(),
      "Shown only once. Null if the request repeats an earlier one by its idempotency key.",
    ),
  },
  { $id: "RotatedSecret" },
);

export const AddKeyBody = Type.Object(
  {
    algorithm: KeyAlgorithm,
    public_key: Type.Optional(
      Type.String({
        pattern: "^[A-Za-z0-9_-]{43}$",
        description:
          "For ed25519: base64url of the raw 32 bytes, like `x` of a JWK. A shared secret is generated by the service.",
      }),
    ),
    expires_at: ExpiresAt,
  },
  { $id: "AddKeyBody", additionalProperties: false },
);
export type AddKeyBody = Static<typeof AddKeyBody>;

export const AddedKey = Type.Object(
  {
    key: ClientKey,
    secret: Nullable(
      Type.String(),
      "For hmac-sha256: the shared secret in base64, shown only once. Null if the request repeats an earlier one by its idempotency key.",
    ),
  },
  { $id: "AddedKey" },
);
