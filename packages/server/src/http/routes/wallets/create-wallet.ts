import { CreateWalletBody, Wallet } from "@bursar/protocol";
import { itemsToCreateWallet } from "../../../app/quotas/take-quota.js";
import type { UseCases } from "../../../app/use-cases.js";
import { originOf, unwrap } from "../../access/guard.js";
import { readIdempotencyKey } from "../../access/idempotency-key.js";
import { defineRoute } from "../../route.js";

export function createWallet({
  createWallet: create,
  presentWallet,
}: Pick<UseCases, "createWallet" | "presentWallet">) {
  return defineRoute(
    {
      method: "POST",
      path: "/v1/wallets",
      access: "wallets:write",
      operationId: "createWallet",
      tag: "Wallets",
      summary: "Create a wallet",
      description: "Accepted for asynchronous processing: its state changes from `creating` to `active`.",
      body: CreateWalletBody,
      itemsOf: (body) => itemsToCreateWallet(body as CreateWalletBody),
      idempotent: "honoured",
      success: {
        status: 202,
        schema: Wallet,
        description: "The wallet is durable and will be created.",
        headers: ["Location", "Retry-After"],
        examples: ["creating"],
      },
      errors: ["NETWORK_UNKNOWN"],
    },
    async (request, reply) => {
      const { wallet, replayed } = unwrap(
        await create(originOf(request), request.body, readIdempotencyKey(request)),
      );
      const body = presentWallet({ ...wallet, balances: [], sending: null });
      if (replayed) reply.header("idempotent-replayed", "true");
      reply.code(202).header("location", `/v1/wallets/${body.id}`).header("retry-after", "1");
      return body;
    },
  );
}
