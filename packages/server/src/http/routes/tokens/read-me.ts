import { Me } from "@bursar/protocol";
import type { UseCases } from "../../../app/use-cases.js";
import { principalOf } from "../../access/guard.js";
import { defineRoute } from "../../route.js";

export function readMe({ showMe }: Pick<UseCases, "showMe">) {
  return defineRoute(
    {
      method: "GET",
      path: "/v1/me",
      access: [],
      operationId: "readMe",
      tag: "Tokens",
      summary: "Read what the access token is",
      description:
        "Shows the client, its tenant, the scopes, the quotas and the expiry. Every valid token is admitted.",
      success: { status: 200, schema: Me, description: "The client that the access token belongs to." },
      errors: [],
    },
    (request) => showMe(principalOf(request)),
  );
}
