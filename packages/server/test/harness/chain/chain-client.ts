import { randomUUID } from "node:crypto";
import type { Wallet } from "@bursar/protocol";
import { eventually } from "../eventually.js";
import type { BlackBoxService } from "../service/test-service.js";
import { transactionsOf } from "../transactions/transactions-client.js";
import { chainNetwork } from "./configured-chain.js";

/** What a client does with wallets on a chain, for one token. */
export function chainClientOf(service: BlackBoxService, token: string) {
  const api = transactionsOf(service, token);
  const readWallet = async (id: string) =>
    (await api.send("GET", `/v1/wallets/${id}`)).body as unknown as Wallet;
  const createWallet = async (network: string = chainNetwork) => {
    const body = { name: "chain", purpose: "payout", network };
    const answer = await api.send("POST", "/v1/wallets", body, { "idempotency-key": randomUUID() });
    return answer.body as unknown as Wallet;
  };
  const whenActive = (id: string) =>
    eventually(
      () => readWallet(id),
      ({ state }) => state === "active",
    );
  return {
    ...api,
    readWallet,
    createWallet,
    whenActive,
    createActiveWallet: async () => {
      const { id } = await createWallet();
      const wallet = await whenActive(id);
      return { ...wallet, address: wallet.address ?? "" };
    },
    allowEverything: async () => {
      const { headers } = await api.send("GET", "/v1/policy");
      const document = { rules: [], default: { action: "allow" } };
      await api.send("PUT", "/v1/policy", document, { "if-match": headers.get("etag") ?? "" });
    },
  };
}
