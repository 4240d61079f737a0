import { AssetList } from "@bursar/protocol";
import type { UseCases } from "../../../app/use-cases.js";
import { defineRoute } from "../../route.js";

export function listAssets({ listAssets: list }: Pick<UseCases, "listAssets">) {
  return defineRoute(
    {
      method: "GET",
      path: "/v1/assets",
      access: "transactions:read",
      operationId: "listAssets",
      tag: "Transactions",
      summary: "List the assets that can be moved",
      description: "The assets of the service's configuration, with their decimals, networks and limits.",
      success: { status: 200, schema: AssetList, description: "All assets." },
      errors: [],
    },
    () => ({ data: list() }),
  );
}
