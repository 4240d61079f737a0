import { DestinationPath } from "@bursar/protocol";
import { Type } from "typebox";
import type { UseCases } from "../../../app/use-cases.js";
import { originOf, unwrap } from "../../access/guard.js";
import { destinationIdOf } from "../../resource-path.js";
import { defineRoute } from "../../route.js";

export function removeDestination({ removeDestination: remove }: Pick<UseCases, "removeDestination">) {
  return defineRoute(
    {
      method: "DELETE",
      path: "/v1/destinations/:id",
      access: "destinations:manage",
      operationId: "removeDestination",
      tag: "Policy",
      summary: "Remove an address from the allow-list",
      description: "Takes effect immediately; only additions have a waiting period.",
      params: DestinationPath,
      success: { status: 204, schema: Type.Null({ description: "The address was removed." }) },
      errors: ["DESTINATION_NOT_FOUND"],
    },
    async (request, reply) => {
      unwrap(await remove(originOf(request), destinationIdOf(request.params)));
      return reply.code(204).send();
    },
  );
}
