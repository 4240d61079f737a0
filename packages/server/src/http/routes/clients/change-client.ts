import { ChangeClientBody, Client, ClientPath } from "@bursar/protocol";
import type { UseCases } from "../../../app/use-cases.js";
import { originOf, unwrap } from "../../access/guard.js";
import { clientIdOf } from "../../resource-path.js";
import { defineRoute } from "../../route.js";
import { presentClient } from "./present-client.js";

export function changeClient({ changeClient: change }: Pick<UseCases, "changeClient">) {
  return defineRoute(
    {
      method: "PATCH",
      path: "/v1/clients/:client_id",
      access: "clients:manage",
      operationId: "changeClient",
      passkey: true,
      tag: "Clients",
      summary: "Change, disable or enable a client",
      description:
        "Takes effect everywhere within 5 seconds. Disabling a client cancels its open orders; its transactions wait, unless `cancel` lists them. The caller must hold every scope that the client has or is given. `quotas` replaces all quotas of the client; classes that it omits use the service's defaults.",
      params: ClientPath,
      body: ChangeClientBody,
      isStop: (body) => (body as ChangeClientBody).state === "disabled",
      success: { status: 200, schema: Client, description: "The changed client." },
      errors: [
        "ADMINISTRATOR_IS_LAST",
        "CLIENT_IS_PERSON",
        "CHANGE_REQUEST_REQUIRED",
        "CLIENT_NOT_FOUND",
        "CLIENT_TAMPERED",
        "QUOTA_BEYOND_OWN",
      ],
    },
    async (request) =>
      presentClient(unwrap(await change(originOf(request), clientIdOf(request.params), request.body))),
  );
}
