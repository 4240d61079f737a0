import { Destination, DestinationPath } from "@bursar/protocol";
import type { UseCases } from "../../../app/use-cases.js";
import { principalOf, unwrap } from "../../access/guard.js";
import { destinationIdOf } from "../../resource-path.js";
import { defineRoute } from "../../route.js";

export function readDestination({
  readDestination: read,
  presentDestination,
}: Pick<UseCases, "readDestination" | "presentDestination">) {
  return defineRoute(
    {
      method: "GET",
      path: "/v1/destinations/:id",
      access: "policies:read",
      operationId: "readDestination",
      tag: "Policy",
      summary: "Read an address on the allow-list",
      description: "Policy treats it as a listed address once its state is `active`.",
      params: DestinationPath,
      success: { status: 200, schema: Destination, description: "The address." },
      errors: ["DESTINATION_NOT_FOUND"],
    },
    async (request) => {
      const { tenantId } = principalOf(request).principal;
      return presentDestination(unwrap(await read(tenantId, destinationIdOf(request.params))));
    },
  );
}
