import { AddedKey, AddKeyBody, ClientPath } from "@bursar/protocol";
import type { UseCases } from "../../../app/use-cases.js";
import { originOf, unwrap } from "../../access/guard.js";
import { readIdempotencyKey } from "../../access/idempotency-key.js";
import { clientIdOf } from "../../resource-path.js";
import { defineRoute } from "../../route.js";
import { presentKey } from "./present-client.js";

export function addKey({ addKey: add }: Pick<UseCases, "addKey">) {
  return defineRoute(
    {
      method: "POST",
      path: "/v1/clients/:client_id/keys",
      access: "clients:manage",
      operationId: "addKey",
      passkey: true,
      tag: "Clients",
      summary: "Register a key for signed requests or client assertions",
      description:
        "An Ed25519 key signs requests (RFC 9421) and client assertions (RFC 7523); a shared secret signs requests.",
      params: ClientPath,
      body: AddKeyBody,
      idempotent: "honoured",
      success: { status: 201, schema: AddedKey, description: "The key; a shared secret is shown only once." },
      errors: [
        "CLIENT_IS_PERSON",
        "CHANGE_REQUEST_REQUIRED",
        "CLIENT_NOT_FOUND",
        "CLIENT_TAMPERED",
        "KEY_LIMIT_REACHED",
        "CREDENTIAL_NOT_FOUND",
      ],
    },
    async (request, reply) => {
      const { key, secret, isReplayed } = unwrap(
        await add(originOf(request), clientIdOf(request.params), request.body, readIdempotencyKey(request)),
      );
      if (isReplayed) reply.header("idempotent-replayed", "true");
      reply.code(201);
      return { key: presentKey(key), secret };
    },
  );
}
