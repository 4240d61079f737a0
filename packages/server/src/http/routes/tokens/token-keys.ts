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
      summary: "Read the public keys that verify access tokens",
      description:
        "RFC 7517. A key is published before it signs, so that a cached copy of the set verifies every token.",
      success: {
        status: 200,
        schema: JsonWebKeySet,
        description: "The public keys.",
        headers: ["Cache-Control"],
      },
      errors: ["UNAVAILABLE"],
    },
    async (_request, reply) => {
      // Shorter than the time between the publication of a key and its first use.
      reply.header("cache-control", "public, max-age=15");
      const keys = await listTokenKeys();
      const common = { kty: "OKP", crv: "Ed25519", use: "sig", alg: "EdDSA" } as const;
      return { keys: keys.map(({ kid, x }) => ({ ...common, x, kid })) };
    },
  );
}
