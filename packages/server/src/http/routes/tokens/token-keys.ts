import { JsonWebKeySet } from "@bursar/protocol";
import type { UseCases } from "../../../app/use-cases.js";
import { defineRoute } from "../../route.js";

export function tokenKeys({ listTokenKeys }: Pick<UseCases, "listTokenKeys">) {
  return defineRoute(
    {
      method: "GET",
      path: "/.well-known/jwks.json",
      access: "open",
      operationId: "getTokenKeys",
      tag: "Tokens",
      summary: "The public keys that verify access tokens",
      success: { status: 200, schema: JsonWebKeySet },
      errors: ["UNAVAILABLE"],
    },
    async (_request, reply) => {
      // Shorter than a new key is published ahead of its use.
      reply.header("cache-control", "public, max-age=15");
      const keys = await listTokenKeys();
      return {
        keys: keys.map(({ kid, x }) => ({ kty: "OKP", crv: "Ed25519", x, kid, use: "sig", alg: "EdDSA" })),
      };
    },
  );
}
