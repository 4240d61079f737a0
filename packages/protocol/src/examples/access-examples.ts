import { allScopes } from "../access/scopes.js";
import { type Examples, lastPage } from "./example.js";
import { exampleIds } from "./example-ids.js";

const createdAt = "2026-10-07T09:30:01.000Z";
const issuer = "https://bursar.example";
const publicKey = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";
const secretValue = "bsk_example-only-5Zr0mVn3Qx8Kc7Lw2Ht6Yb4Jd9Fg1";
const scopes = ["transactions:read", "transactions:write", "wallets:read"];

const secret = {
  id: exampleIds.secret,
  added_by: null,
  created_at: createdAt,
  expires_at: null,
  last_used_at: "2026-11-16T09:25:00.000Z",
};

const key = {
  id: exampleIds.key,
  algorithm: "ed25519",
  public_key: publicKey,
  added_by: exampleIds.client,
  created_at: "2026-10-09T09:30:00.000Z",
  expires_at: null,
  last_used_at: null,
};

const client = {
  id: exampleIds.client,
  object: "client",
  kind: "program",
  name: "Shop backend",
  scopes,
  state: "active",
  require_signature: false,
  quotas: { create: { per_second: 100, burst: 200 } },
  secrets: [secret],
  keys: [key],
  created_by: null,
  authority_changed_by: null,
  authority_changed_at: createdAt,
  created_at: createdAt,
  updated_at: createdAt,
};

const created = { ...client, quotas: {}, secrets: [{ ...secret, last_used_at: null }], keys: [] };

const methods = ["client_secret_basic", "client_secret_post", "private_key_jwt"];
const algorithms = ["EdDSA", "Ed25519"];
const accessToken =
  "eyJhbGciOiJFZERTQSIsInR5cCI6ImF0K2p3dCJ9.eyJzdWIiOiJjbGlfMDFtNGF2NWpkOGVqN3RjMHpwM3EwM2RkZTUifQ.c2lnbmF0dXJl";

export const accessExamples: Examples = {
  CreateClientBody: { value: { name: "Shop backend", scopes } },
  CreatedClient: { value: { ...created, secret: secretValue } },
  ChangeClientBody: { value: { name: "Shop backend (EU)", quotas: client.quotas } },
  Client: { value: client },
  ClientPage: lastPage(client),
  RotateSecretBody: { value: { overlap_seconds: 3600 } },
  RotateOwnSecretBody: { value: { overlap_seconds: 3600, current_secret: secretValue } },
  RotatedSecret: { value: { client, secret: secretValue } },
  "AddKeyBody.ed25519": {
    summary: "A public key of the client",
    value: { algorithm: "ed25519", public_key: publicKey },
  },
  "AddKeyBody.hmac": {
    summary: "A shared secret, which the service generates",
    value: { algorithm: "hmac-sha256", expires_at: "2036-12-31T23:59:59Z" },
  },
  AddedKey: { value: { key, secret: null } },
  Me: {
    value: {
      object: "me",
      client: {
        id: exampleIds.client,
        name: "Shop backend",
        scopes,
        require_signature: false,
        authority_changed_at: createdAt,
      },
      tenant: { id: exampleIds.tenant, name: "Shop", single_administrator: false },
      token: {
        id: exampleIds.token,
        scopes,
        issued_at: "2026-11-16T09:25:00.000Z",
        expires_at: "2026-11-16T09:40:00.000Z",
      },
      quotas: client.quotas,
    },
  },
  "TokenForm.basic": {
    summary: "The client authenticates with HTTP Basic",
    value: { grant_type: "client_credentials", scope: scopes.join(" ") },
  },
  "TokenForm.post": {
    summary: "The client authenticates in the form",
    value: {
      grant_type: "client_credentials",
      client_id: exampleIds.client,
      client_secret: secretValue,
    },
  },
  IssuedToken: {
    value: {
      access_token: accessToken,
      token_type: "Bearer",
      expires_in: 900,
      scope: scopes.join(" "),
    },
  },
  TokenActionForm: { value: { token: accessToken, token_type_hint: "access_token" } },
  RevokedToken: { value: {} },
  "Introspection.active": {
    summary: "An active token of the tenant",
    value: {
      active: true,
      scope: scopes.join(" "),
      client_id: exampleIds.client,
      token_type: "Bearer",
      exp: 1_794_822_000,
      iat: 1_794_821_100,
      sub: exampleIds.client,
      aud: issuer,
      iss: issuer,
      jti: exampleIds.token,
    },
  },
  "Introspection.inactive": { summary: "Any other token", value: { active: false } },
  OAuthError: {
    value: { error: "invalid_client", error_description: "Client authentication failed." },
  },
  AuthorizationServerMetadata: {
    value: {
      issuer,
      token_endpoint: `${issuer}/oauth/token`,
      jwks_uri: `${issuer}/.well-known/jwks.json`,
      revocation_endpoint: `${issuer}/oauth/revoke`,
      introspection_endpoint: `${issuer}/oauth/introspect`,
      grant_types_supported: ["client_credentials"],
      response_types_supported: [],
      scopes_supported: allScopes,
      token_endpoint_auth_methods_supported: methods,
      token_endpoint_auth_signing_alg_values_supported: algorithms,
      revocation_endpoint_auth_methods_supported: methods,
      revocation_endpoint_auth_signing_alg_values_supported: algorithms,
      introspection_endpoint_auth_methods_supported: methods,
      introspection_endpoint_auth_signing_alg_values_supported: algorithms,
      service_documentation: `${issuer}/docs`,
    },
  },
  JsonWebKeySet: {
    value: {
      keys: [{ kty: "OKP", crv: "Ed25519", x: publicKey, kid: exampleIds.key, use: "sig", alg: "EdDSA" }],
    },
  },
  ClientName: {
    summary: "A program",
    value: { id: exampleIds.client, object: "client_name", kind: "program", name: "payments-api" },
  },
  ClientUsage: {
    summary: "An hour",
    value: {
      object: "client_usage",
      client_id: exampleIds.client,
      period: "hour",
      data: [
        {
          start: "2026-11-16T09:00:00.000Z",
          requests: 1840,
          refused: 3,
          rate_limited: 12,
          failed: 0,
          cost: 1911,
        },
      ],
      quotas: [{ class: "create", per_second: 1000, burst: 5000, remaining: 4890 }],
    },
  },
  AuditPage: {
    value: {
      data: [
        {
          number: 1042,
          occurred_at: "2026-11-16T09:30:00.000Z",
          actor: "client",
          client_id: exampleIds.client,
          token_id: exampleIds.token,
          session_id: null,
          action: "transaction.create",
          object: exampleIds.transaction,
          objects: [exampleIds.transaction],
          outcome: "succeeded",
          code: null,
          reason: null,
          repeated: 1,
          request_id: exampleIds.request,
          address: "203.0.113.7",
          hash: "4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945",
        },
      ],
      next_cursor: null,
      removed_to: null,
    },
  },
};
