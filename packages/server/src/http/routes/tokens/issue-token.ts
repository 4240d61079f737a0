import { IssuedToken, TokenForm } from "@bursar/protocol";
import { isOAuthFault } from "../../../app/access/authenticate-client.js";
import type { UseCases } from "../../../app/use-cases.js";
import { readClientProof } from "../../oauth/client-proof.js";
import { OAuthRefusal } from "../../oauth/oauth-context.js";
import { defineRoute } from "../../route.js";

export function issueToken({ requestToken }: Pick<UseCases, "requestToken">) {
  return defineRoute(
    {
      method: "POST",
      path: "/oauth/token",
      access: "oauth",
      operationId: "issueToken",
      tag: "Tokens",
      summary: "Get an access token",
      description:
        "OAuth 2.0 client credentials (RFC 6749, section 4.4). The client authenticates with HTTP Basic, with `client_id` and `client_secret` in the form, or with a signed assertion (`private_key_jwt`, RFC 7523).",
      body: TokenForm,
      success: { status: 200, schema: IssuedToken, description: "The access token." },
      errors: [],
    },
    async (request) => {
      if (request.body.grant_type !== "client_credentials") {
        throw new OAuthRefusal({
          fault: "unsupported_grant_type",
          description: "grant_type must be client_credentials.",
        });
      }
      const proof = readClientProof(request, request.body);
      const issued = await requestToken(proof, request.body.scope, {
        requestId: request.id,
        address: request.ip,
      });
      if (isOAuthFault(issued)) throw new OAuthRefusal(issued);
      const { token, claims } = issued;
      return {
        access_token: token,
        token_type: "Bearer" as const,
        expires_in: (claims.expiresAtMs - claims.issuedAtMs) / 1000,
        scope: claims.scopes.join(" "),
      };
    },
  );
}
