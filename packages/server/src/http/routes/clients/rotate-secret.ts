import { ClientPath, RotatedSecret, RotateSecretBody } from "@bursar/protocol";
import type { UseCases } from "../../../app/use-cases.js";
import { originOf, unwrap } from "../../access/guard.js";
import { readIdempotencyKey } from "../../access/idempotency-key.js";
import { clientIdOf } from "../../resource-path.js";
import { defineRoute } from "../../route.js";
import { presentClient } from "./present-client.js";

export function rotateSecret({ rotateSecret: rotate }: Pick<UseCases, "rotateSecret">) {
  return defineRoute(
    {
      method: "POST",
      path: "/v1/clients/:client_id/secrets",
      access: "clients:manage",
      operationId: "rotateSecret",
      passkey: true,
      tag: "Clients",
      summary: "Rotate a client's secret",
      description:
        "The present secret stays valid for `overlap_seconds`. At most two are live: a second rotation within that time replaces the newer one, so that a repeated request does no harm. The body can be left out.",
      params: ClientPath,
      body: RotateSecretBody,
      isBodyOptional: true,
      idempotent: "honoured",
      success: { status: 201, schema: RotatedSecret, description: "The new secret, shown only once." },
      errors: ["CLIENT_IS_PERSON", "CHANGE_REQUEST_REQUIRED", "CLIENT_NOT_FOUND", "CLIENT_TAMPERED"],
    },
    async (request, reply) => {
      const { overlap_seconds, expires_at } = request.body;
      const { client, secret } = unwrap(
        await rotate(
          originOf(request),
          clientIdOf(request.params),
          overlap_seconds,
          readIdempotencyKey(request),
          expires_at,
        ),
      );
      if (secret === null) reply.header("idempotent-replayed", "true");
      reply.code(201);
      return { client: presentClient(client), secret };
    },
  );
}
