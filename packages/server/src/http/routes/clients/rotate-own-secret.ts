import { RotatedSecret, RotateOwnSecretBody } from "@bursar/protocol";
import type { UseCases } from "../../../app/use-cases.js";
import { originOf, unwrap } from "../../access/guard.js";
import { readIdempotencyKey } from "../../access/idempotency-key.js";
import { defineRoute } from "../../route.js";
import { presentClient } from "./present-client.js";

export function rotateOwnSecret({ rotateOwnSecret: rotate }: Pick<UseCases, "rotateOwnSecret">) {
  return defineRoute(
    {
      method: "POST",
      path: "/v1/me/secrets",
      access: [],
      operationId: "rotateOwnSecret",
      tag: "Clients",
      summary: "Rotate the caller's own secret",
      description:
        "Needs no scope of its own, but an access token with all scopes of the client, and proof of a current credential: the current secret in `current_secret`, or a signature by a key of the client. A secret or key that expires proves only a secret that expires no later, and a secret that has been replaced proves none. The present secret stays valid for `overlap_seconds`; with 0, all earlier secrets and their tokens end at once.",
      body: RotateOwnSecretBody,
      idempotent: "honoured",
      success: { status: 201, schema: RotatedSecret, description: "The new secret, shown only once." },
      errors: ["CLIENT_IS_PERSON", "CREDENTIAL_PROOF_REQUIRED", "INSUFFICIENT_SCOPE", "CLIENT_TAMPERED"],
    },
    async (request, reply) => {
      const { client, secret } = unwrap(
        await rotate(originOf(request), request.body, request.signature?.key, readIdempotencyKey(request)),
      );
      if (secret === null) reply.header("idempotent-replayed", "true");
      reply.code(201);
      return { client: presentClient(client), secret };
    },
  );
}
