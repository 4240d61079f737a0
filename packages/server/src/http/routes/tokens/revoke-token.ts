import { RevokedToken, TokenActionForm } from "@bursar/protocol";
import { isOAuthFault } from "../../../app/access/authenticate-client.js";
import type { UseCases } from "../../../app/use-cases.js";
import { readClientProof } from "../../oauth/client-proof.js";
import { OAuthRefusal } from "../../oauth/oauth-context.js";
import { defineRoute } from "../../route.js";

export function revokeToken({ revokeToken: revoke }: Pick<UseCases, "revokeToken">) {
  return defineRoute(
    {
      method: "POST",
      path: "/oauth/revoke",
      access: "oauth",
      operationId: "revokeToken",
      tag: "Tokens",
      summary: "Revoke an access token",
      description: "RFC 7009. An invalid token is also a success. Takes effect everywhere within 5 seconds.",
      body: TokenActionForm,
      success: { status: 200, schema: RevokedToken, description: "The token is not valid any more." },
      errors: [],
    },
    async (request) => {
      const proof = readClientProof(request, request.body);
      const fault = await revoke(proof, request.body.token, { requestId: request.id, address: request.ip });
      if (isOAuthFault(fault)) throw new OAuthRefusal(fault);
      return {};
    },
  );
}
