import { NetworkList } from "@bursar/protocol";
import type { UseCases } from "../../../app/use-cases.js";
import { defineRoute } from "../../route.js";

export function listNetworks({ listNetworks: list }: Pick<UseCases, "listNetworks">) {
  return defineRoute(
    {
      method: "GET",
      path: "/v1/networks",
      access: "wallets:read",
      operationId: "listNetworks",
      tag: "Wallets",
      summary: "List the chains",
      description:
        "The chains on which wallets can be created, with their last blocks and fees. The book, which every service has, is not among them.",
      success: { status: 200, schema: NetworkList, description: "All configured chains." },
      errors: [],
    },
    async () => ({ data: await list() }),
  );
}
