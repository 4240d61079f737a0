import { TokenActionForm } from "@bursar/protocol";
import { Type } from "typebox";
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
      summary: "End an access token before its time",
      description:
        "RFC 7009. A token that is not valid is a success too. In force everywhere within 5 seconds.",
      body: TokenActionForm,
      success: { status: 200, schema: Type.Object({}) },
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
