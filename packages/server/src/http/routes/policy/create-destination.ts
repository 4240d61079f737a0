import { ChangeRequest, CreateDestinationBody, Destination } from "@bursar/protocol";
import type { UseCases } from "../../../app/use-cases.js";
import { originOf, unwrap } from "../../access/guard.js";
import { readIdempotencyKey } from "../../access/idempotency-key.js";
import { defineRoute } from "../../route.js";
import { acceptChange } from "../change-requests/accept-change.js";

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
      passkey: true,
      tag: "Policy",
      summary: "Add an address to the allow-list",
      description:
        "Policy treats it as a listed address from `effective_at` on. If the `changes` of the policy cover destinations, the response is 202 with a change request.",
      body: CreateDestinationBody,
      idempotent: "honoured",
      success: {
        status: 201,
        schema: Destination,
        description: "The address is listed.",
        headers: ["Location"],
      },
      orElse: {
        status: 202,
        schema: ChangeRequest,
        description: "The change waits for approval.",
        headers: ["Location"],
        examples: ["pending"],
      },
      errors: ["NETWORK_UNKNOWN", "ADDRESS_INVALID", "DESTINATION_EXISTS", "CHANGE_REQUEST_LIMIT_REACHED"],
    },
    async (request, reply) => {
      const added = unwrap(await add(originOf(request), request.body, readIdempotencyKey(request)));
      if (added.replayed) reply.header("idempotent-replayed", "true");
      if ("changeRequest" in added) return acceptChange(reply, added.changeRequest);
      const { destination } = added;
      // As it was at its creation: a repeated request gets the original response.
      const body = presentDestination(destination, destination.createdAt);
      reply.code(201).header("location", `/v1/destinations/${body.id}`);
      return body;
    },
  );
}
