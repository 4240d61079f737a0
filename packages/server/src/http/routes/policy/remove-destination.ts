import { ChangeRequest, DestinationPath } from "@bursar/protocol";
import { Type } from "typebox";
import type { UseCases } from "../../../app/use-cases.js";
import { originOf, unwrap } from "../../access/guard.js";
import { destinationIdOf } from "../../resource-path.js";
import { defineRoute } from "../../route.js";
import { acceptChange } from "../change-requests/accept-change.js";

export function removeDestination({ removeDestination: remove }: Pick<UseCases, "removeDestination">) {
  return defineRoute(
    {
      method: "DELETE",
      path: "/v1/destinations/:id",
      access: "destinations:manage",
      operationId: "removeDestination",
      passkey: true,
      tag: "Policy",
      summary: "Remove an address from the allow-list",
      description:
        "Takes effect immediately; only additions have a waiting period. If the `changes` of the policy cover destinations, the response is 202 with a change request.",
      params: DestinationPath,
      success: { status: 204, schema: Type.Null(), description: "The address was removed." },
      orElse: {
        status: 202,
        schema: ChangeRequest,
        description: "The change waits for approval.",
        headers: ["Location"],
        examples: ["pending"],
      },
      errors: ["DESTINATION_NOT_FOUND", "CHANGE_REQUEST_LIMIT_REACHED"],
    },
    async (request, reply) => {
      const removed = unwrap(await remove(originOf(request), destinationIdOf(request.params)));
      if (removed !== undefined) return acceptChange(reply, removed.changeRequest);
      return reply.code(204).send();
    },
  );
}
