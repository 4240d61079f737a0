import { Client, ClientSecretPath } from "@bursar/protocol";
import type { UseCases } from "../../../app/use-cases.js";
import { originOf, unwrap } from "../../access/guard.js";
import { clientIdOf, secretIdOf } from "../../resource-path.js";
import { defineRoute } from "../../route.js";
import { presentClient } from "./present-client.js";

export function removeSecret({ removeSecret: remove }: Pick<UseCases, "removeSecret">) {
  return defineRoute(
    {
      method: "DELETE",
      path: "/v1/clients/:client_id/secrets/:secret_id",
      access: "clients:manage",
      operationId: "removeSecret",
      passkey: true,
      tag: "Clients",
      summary: "Remove a secret",
      description: "The tokens that were issued with it end within 5 seconds.",
      params: ClientSecretPath,
      isStop: true,
      success: { status: 200, schema: Client, description: "The client without the secret." },
      errors: [
        "CLIENT_IS_PERSON",
        "CHANGE_REQUEST_REQUIRED",
        "CLIENT_NOT_FOUND",
        "CLIENT_TAMPERED",
        "CREDENTIAL_NOT_FOUND",
      ],
    },
    async (request) => {
      const clientId = clientIdOf(request.params);
      return presentClient(unwrap(await remove(originOf(request), clientId, secretIdOf(request.params))));
    },
  );
}
