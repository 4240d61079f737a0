import { CreateClientBody, CreatedClient } from "@bursar/protocol";
import type { UseCases } from "../../../app/use-cases.js";
import { originOf, unwrap } from "../../access/guard.js";
import { readIdempotencyKey } from "../../access/idempotency-key.js";
import { defineRoute } from "../../route.js";
import { presentClient } from "./present-client.js";

export function createClient({ createClient: create }: Pick<UseCases, "createClient">) {
  return defineRoute(
    {
      method: "POST",
      path: "/v1/clients",
      access: "clients:manage",
      operationId: "createClient",
      passkey: true,
      tag: "Clients",
      summary: "Create a client",
      description:
        "The secret is shown only in this response. A client cannot be given a scope that the caller's token lacks.",
      body: CreateClientBody,
      idempotent: "honoured",
      success: {
        status: 201,
        schema: CreatedClient,
        description: "The client and its secret, which is shown only once.",
        headers: ["Location"],
      },
      errors: ["CLIENT_LIMIT_REACHED"],
    },
    async (request, reply) => {
      const { client, secret } = unwrap(
        await create(originOf(request), request.body, readIdempotencyKey(request)),
      );
      const body = presentClient(client);
      if (secret === null) reply.header("idempotent-replayed", "true");
      reply.code(201).header("location", `/v1/clients/${body.id}`);
      return { ...body, secret };
    },
  );
}
