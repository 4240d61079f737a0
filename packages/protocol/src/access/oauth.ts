import { Type } from "typebox";

/** The requests and responses of the OAuth endpoints, as RFC 6749, 7009, 7662, 8414 and 7517 define them. */

const Token = Type.String({ minLength: 1, maxLength: 4096 });

const clientAuthentication = {
  client_id: Type.Optional(Type.String({ maxLength: 128 })),
  client_secret: Type.Optional(Type.String({ maxLength: 128 })),
  client_assertion_type: Type.Optional(Type.String({ maxLength: 128 })),
  client_assertion: Type.Optional(Token),
};

// Unknown parameters are ignored, as RFC 6749 section 3.2 requires.
export const TokenForm = Type.Object(
  {
    grant_type: Type.String({ maxLength: 64 }),
    scope: Type.Optional(
      Type.String({
        maxLength: 1024,
        description: "Scopes, separated by spaces. Defaults to all scopes of the client.",
      }),
    ),
    ...clientAuthentication,
  },
  { $id: "TokenForm" },
);

export const TokenActionForm = Type.Object(
  {
    token: Token,
    token_type_hint: Type.Optional(Type.String({ maxLength: 64 })),
    ...clientAuthentication,
  },
  { $id: "TokenActionForm" },
);

export const RevokedToken = Type.Object({}, { $id: "RevokedToken", description: "An empty object." });

export const IssuedToken = Type.Object(
  {
    access_token: Type.String(),
    token_type: Type.Literal("Bearer"),
    expires_in: Type.Integer({ description: "Seconds." }),
    scope: Type.String(),
  },
  { $id: "IssuedToken" },
);

export const Introspection = Type.Object(
  {
    active: Type.Boolean(),
    scope: Type.Optional(Type.String()),
    client_id: Type.Optional(Type.String()),
    token_type: Type.Optional(Type.String()),
    exp: Type.Optional(Type.Integer()),
    iat: Type.Optional(Type.Integer()),
    sub: Type.Optional(Type.String()),
    aud: Type.Optional(Type.String()),
    iss: Type.Optional(Type.String()),
    jti: Type.Optional(Type.String()),
  },
  { $id: "Introspection" },
);

export const OAuthError = Type.Object(
  { error: Type.String(), error_description: Type.Optional(Type.String()) },
  { $id: "OAuthError", description: "The error body of RFC 6749, section 5.2." },
);

const Url = Type.String({ format: "uri" });
const Names = Type.Array(Type.String());

export const AuthorizationServerMetadata = Type.Object(
  {
    issuer: Url,
    token_endpoint: Url,
    jwks_uri: Url,
    revocation_endpoint: Url,
    introspection_endpoint: Url,
    grant_types_supported: Names,
    response_types_supported: Names,
    scopes_supported: Names,
    token_endpoint_auth_methods_supported: Names,
    token_endpoint_auth_signing_alg_values_supported: Names,
    revocation_endpoint_auth_methods_supported: Names,
    revocation_endpoint_auth_signing_alg_values_supported: Names,
    introspection_endpoint_auth_methods_supported: Names,
    introspection_endpoint_auth_signing_alg_values_supported: Names,
    service_documentation: Url,
  },
  { $id: "AuthorizationServerMetadata" },
);

export const JsonWebKeySet = Type.Object(
  {
    keys: Type.Array(
      Type.Object({
        kty: Type.Literal("OKP"),
        crv: Type.Literal("Ed25519"),
        x: Type.String(),
        kid: Type.String(),
        use: Type.Literal("sig"),
        alg: Type.Literal("EdDSA"),
      }),
    ),
  },
  { $id: "JsonWebKeySet" },
);
