import { type Static, Type } from "typebox";
import { Page } from "../pagination.js";
import { ClientQuotas } from "./quota.js";
import { allScopes } from "./scopes.js";

const Timestamp = Type.String({ format: "date-time" });
const Name = Type.String({ minLength: 1, maxLength: 128 });
// The items say that they are texts, so that the check for repeated ones is by hash and not pair by pair.
const Scopes = Type.Array(Type.Enum([...allScopes], { type: "string" }), {
  uniqueItems: true,
  maxItems: allScopes.length,
});
const KeyAlgorithm = Type.Enum(["ed25519", "hmac-sha256"]);

const ClientSecret = Type.Object({
  id: Type.String(),
  created_at: Timestamp,
  expires_at: Type.Union([Timestamp, Type.Null()]),
});

const ClientKey = Type.Object({
  id: Type.String({ description: "The `keyid` of a signed request and the `kid` of a client assertion." }),
  algorithm: KeyAlgorithm,
  public_key: Type.Union([Type.String(), Type.Null()], {
    description: "Base64url of the 32 bytes; null for a shared secret.",
  }),
  created_at: Timestamp,
});

const clientFields = {
  id: Type.String({ description: "The `client_id` of OAuth." }),
  object: Type.Literal("client"),
  name: Name,
  scopes: Scopes,
  state: Type.Enum(["active", "disabled"]),
  require_signature: Type.Boolean({ description: "Whether its requests must be signed." }),
  quotas: ClientQuotas,
  secrets: Type.Array(ClientSecret),
  keys: Type.Array(ClientKey),
  created_at: Timestamp,
  updated_at: Timestamp,
};

export const Client = Type.Object(clientFields, { $id: "Client" });
export type Client = Static<typeof Client>;

export const CreatedClient = Type.Object(
  {
    ...clientFields,
    secret: Type.Union([Type.String(), Type.Null()], {
      description: "Shown this once. Null when the request repeats an earlier one by its idempotency key.",
    }),
  },
  { $id: "CreatedClient" },
);

export const ClientPage = Page(Client, "ClientPage");

export const ClientPath = Type.Object({ client_id: Type.String() });
export const ClientSecretPath = Type.Object({ client_id: Type.String(), secret_id: Type.String() });
export const ClientKeyPath = Type.Object({ client_id: Type.String(), key_id: Type.String() });

export const CreateClientBody = Type.Object(
  {
    name: Name,
    scopes: Scopes,
    require_signature: Type.Optional(Type.Boolean({ description: "False where it is left out." })),
  },
  { additionalProperties: false },
);
export type CreateClientBody = Static<typeof CreateClientBody>;

export const ChangeClientBody = Type.Object(
  {
    name: Type.Optional(Name),
    scopes: Type.Optional(Scopes),
    state: Type.Optional(Type.Enum(["active", "disabled"])),
    require_signature: Type.Optional(Type.Boolean()),
    quotas: Type.Optional(ClientQuotas),
  },
  { additionalProperties: false, minProperties: 1 },
);
export type ChangeClientBody = Static<typeof ChangeClientBody>;

export const RotateSecretBody = Type.Object(
  {
    overlap_seconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 2_592_000,
        description: "How long the secret before stays valid; one day where it is left out.",
      }),
    ),
  },
  { additionalProperties: false },
);

export const RotatedSecret = Type.Object(
  {
    client: Client,
    secret: Type.String({
      description: "Shown this once. Empty when the request repeats an earlier one by its idempotency key.",
    }),
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
          "For ed25519: base64url of the raw 32 bytes, as `x` of a JWK. A shared secret is made by the service.",
      }),
    ),
  },
  { additionalProperties: false },
);
export type AddKeyBody = Static<typeof AddKeyBody>;

export const AddedKey = Type.Object(
  {
    key: ClientKey,
    secret: Type.Union([Type.String(), Type.Null()], {
      description:
        "For hmac-sha256: the shared secret, base64, shown this once. Null when the request repeats an earlier one by its idempotency key.",
    }),
  },
  { $id: "AddedKey" },
);
