import { Client, ClientPath } from "@bursar/protocol";
import type { UseCases } from "../../../app/use-cases.js";
import { principalOf, unwrap } from "../../access/guard.js";
import { clientIdOf } from "../../resource-path.js";
import { defineRoute } from "../../route.js";
import { presentClient } from "./present-client.js";

export function readClient({ readClient: read }: Pick<UseCases, "readClient">) {
  return defineRoute(
    {
      method: "GET",
      path: "/v1/clients/:client_id",
      access: "clients:manage",
      operationId: "readClient",
      tag: "Clients",
      summary: "Read a client",
      description: "With its credentials but without its secrets.",
      params: ClientPath,
      success: { status: 200, schema: Client, description: "The client." },
      errors: ["CLIENT_NOT_FOUND"],
    },
    async (request) => {
      const { tenantId } = principalOf(request).principal;
      return presentClient(unwrap(await read(tenantId, clientIdOf(request.params))));
    },
  );
}
