import { CreateDestinationBody, Destination } from "@bursar/protocol";
import type { UseCases } from "../../../app/use-cases.js";
import { originOf, unwrap } from "../../access/guard.js";
import { readIdempotencyKey } from "../../access/idempotency-key.js";
import { defineRoute } from "../../route.js";

export function createDestination({
  addDestination: add,
  presentDestination,
}: Pick<UseCases, "addDestination" | "presentDestination">) {
  return defineRoute(
    {
      method: "POST",
      path: "/v1/destinations",
      access: "destinations:manage",
      operationId: "createDestination",
      tag: "Policy",
      summary: "Add an address to the allow-list",
      description: "Policy treats it as a listed address from `effective_at` on.",
      body: CreateDestinationBody,
      idempotent: "honoured",
      success: { status: 201, schema: Destination },
      errors: ["NETWORK_UNKNOWN", "DESTINATION_EXISTS"],
    },
    async (request, reply) => {
      const { destination, replayed } = unwrap(
        await add(originOf(request), request.body, readIdempotencyKey(request)),
      );
      // As it was at its creation: a repeated request gets the original response.
      const body = presentDestination(destination, destination.createdAt);
      if (replayed) reply.header("idempotent-replayed", "true");
      reply.code(201).header("location", `/v1/destinations/${body.id}`);
      return body;
    },
  );
}
