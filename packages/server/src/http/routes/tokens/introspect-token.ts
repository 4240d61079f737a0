import { Introspection, showId, TokenActionForm } from "@bursar/protocol";
import { isOAuthFault } from "../../../app/access/authenticate-client.js";
import type { UseCases } from "../../../app/use-cases.js";
import { readClientProof } from "../../oauth/client-proof.js";
import { OAuthRefusal } from "../../oauth/oauth-context.js";
import { defineRoute } from "../../route.js";

export function introspectToken(
  { introspectToken: introspect }: Pick<UseCases, "introspectToken">,
  issuer: string,
) {
  return defineRoute(
    {
      method: "POST",
      path: "/oauth/introspect",
      access: "oauth",
      operationId: "introspectToken",
      tag: "Tokens",
      summary: "Introspect an access token",
      description:
        "RFC 7662. A client can introspect only its own tenant's tokens; others appear as inactive.",
      body: TokenActionForm,
      success: { status: 200, schema: Introspection, description: "What the token is." },
      errors: [],
    },
    async (request) => {
      const proof = readClientProof(request, request.body);
      const claims = await introspect(proof, request.body.token, {
        requestId: request.id,
        address: request.ip,
      });
      if (isOAuthFault(claims)) throw new OAuthRefusal(claims);
      if (claims === undefined) return { active: false };
      const clientId = showId("cli", claims.clientId);
      return {
        active: true,
        scope: claims.scopes.join(" "),
        client_id: clientId,
        token_type: "Bearer",
        exp: claims.expiresAtMs / 1000,
        iat: claims.issuedAtMs / 1000,
        sub: clientId,
        aud: issuer,
        iss: issuer,
        jti: showId("tok", claims.tokenId),
      };
    },
  );
}
