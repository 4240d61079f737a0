import { Client, ClientKeyPath } from "@bursar/protocol";
import type { UseCases } from "../../../app/use-cases.js";
import { originOf, unwrap } from "../../access/guard.js";
import { clientIdOf, keyIdOf } from "../../resource-path.js";
import { defineRoute } from "../../route.js";
import { presentClient } from "./present-client.js";

export function removeKey({ removeKey: remove }: Pick<UseCases, "removeKey">) {
  return defineRoute(
    {
      method: "DELETE",
      path: "/v1/clients/:client_id/keys/:key_id",
      access: "clients:manage",
      operationId: "removeKey",
      passkey: true,
      tag: "Clients",
      summary: "Remove a key",
      description: "The tokens that were issued with it end within 5 seconds.",
      params: ClientKeyPath,
      isStop: true,
      success: { status: 200, schema: Client, description: "The client without the key." },
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
      return presentClient(unwrap(await remove(originOf(request), clientId, keyIdOf(request.params))));
    },
  );
}
