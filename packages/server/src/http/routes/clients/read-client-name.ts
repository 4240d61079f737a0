import { ClientName, ClientPath, clientNameScopes, showId } from "@bursar/protocol";
import type { UseCases } from "../../../app/use-cases.js";
import { principalOf, unwrap } from "../../access/guard.js";
import { clientIdOf } from "../../resource-path.js";
import { defineRoute } from "../../route.js";

export function readClientName({ readClient: read }: Pick<UseCases, "readClient">) {
  return defineRoute(
    {
      method: "GET",
      path: "/v1/clients/:client_id/name",
      access: clientNameScopes,
      operationId: "readClientName",
      tag: "Clients",
      summary: "Read the name of a client or person",
      description:
        "For those who see its id, as of the client that requested a transaction or approved it, and may not read clients. A name can be given to two clients, so it identifies none: compare ids when it matters.",
      params: ClientPath,
      success: {
        status: 200,
        schema: ClientName,
        description: "The name, and if it is a person or a program.",
      },
      errors: ["CLIENT_NOT_FOUND"],
    },
    async (request) => {
      const { tenantId } = principalOf(request).principal;
      const { id, name, person } = unwrap(await read(tenantId, clientIdOf(request.params)));
      return {
        id: showId("cli", id),
        object: "client_name" as const,
        kind: person === null ? ("program" as const) : ("person" as const),
        name,
      };
    },
  );
}
