import { AuthorizationServerMetadata, allScopes } from "@bursar/protocol";
import { defineRoute } from "../../route.js";

const methods = ["client_secret_basic", "client_secret_post", "private_key_jwt"];
const algorithms = ["EdDSA", "Ed25519"];

export function authorizationServer(issuer: string) {
  return defineRoute(
    {
      method: "GET",
      path: "/.well-known/oauth-authorization-server",
      access: "open",
      operationId: "getAuthorizationServer",
      tag: "Tokens",
      summary: "Read the authorization server metadata",
      description: "RFC 8414, for OAuth clients that discover their configuration.",
      success: { status: 200, schema: AuthorizationServerMetadata, description: "The metadata." },
      errors: [],
    },
    () => ({
      issuer,
      token_endpoint: `${issuer}/oauth/token`,
      jwks_uri: `${issuer}/.well-known/jwks.json`,
      revocation_endpoint: `${issuer}/oauth/revoke`,
      introspection_endpoint: `${issuer}/oauth/introspect`,
      grant_types_supported: ["client_credentials"],
      // Required by the RFC, and empty: there is no authorization endpoint.
      response_types_supported: [],
      scopes_supported: allScopes,
      token_endpoint_auth_methods_supported: methods,
      token_endpoint_auth_signing_alg_values_supported: algorithms,
      revocation_endpoint_auth_methods_supported: methods,
      revocation_endpoint_auth_signing_alg_values_supported: algorithms,
      introspection_endpoint_auth_methods_supported: methods,
      introspection_endpoint_auth_signing_alg_values_supported: algorithms,
      service_documentation: `${issuer}/docs`,
    }),
  );
}
