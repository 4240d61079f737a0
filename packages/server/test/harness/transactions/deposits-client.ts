import { randomUUID } from "node:crypto";
import type { Scope, Wallet } from "@bursar/protocol";
import type { BlackBoxService } from "../service/test-service.js";
import { transactionsOf } from "./transactions-client.js";

const bankScopes: readonly Scope[] = ["deposits:write", "transactions:read", "wallets:read"];

/** A tenant, its first client, and a client that the operator created to make deposits. */
export async function createDepositTenant(service: BlackBoxService, scopes = bankScopes) {
  const owner = await service.createTenant();
  const admin = { ...owner, ...transactionsOf(service, await service.token(owner)) };
  const made = await service.createIndependentClient(owner, scopes, "bank");
  const bank = { ...made, ...transactionsOf(service, made.token) };
  const { data: wallets } = (await admin.send("GET", "/v1/wallets")).body as unknown as { data: Wallet[] };
  const walletId = wallets.find(({ role }) => role === "primary")?.id ?? "";
  const bodyOf = (more: object = {}) => ({
    reference: "statement 7/1",
    asset: "USD",
    amount: "25.50",
    destination: { wallet_id: walletId },
    ...more,
  });
  const deposit = (more: object = {}, key: string = randomUUID()) =>
    bank.send("POST", "/v1/deposits", bodyOf(more), { "idempotency-key": key });
  const available = async () => (await admin.balances())["primary"]?.available;
  return { owner, admin, bank, walletId, bodyOf, deposit, available };
}
