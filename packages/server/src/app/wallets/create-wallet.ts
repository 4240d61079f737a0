import type { CreateWalletBody } from "@bursar/protocol";
import type { Principal } from "../access/authenticate-request.js";
import type { Rails } from "../rails/rail.js";
import type { Refused } from "../requests/refused.js";
import { hashRequest } from "../requests/request-hash.js";
import type { Wallet, WalletStore } from "./wallet.js";

export interface CreateWalletDeps {
  store: Pick<WalletStore, "createWallet">;
  rails: Pick<Rails, "networks">;
  onCreated: () => void;
  newUuid: () => string;
  now: () => number;
}

export type CreateWallet = (
  principal: Principal,
  body: CreateWalletBody,
  idempotencyKey: string | undefined,
) => Promise<{ wallet: Wallet; replayed: boolean } | Refused>;

/** A wallet that names no network is one of the book. */
const defaultNetwork = "book";

/** Stores a new wallet; the engine or its rail makes it active. */
export function createWalletCreator({
  store,
  rails,
  onCreated,
  newUuid,
  now,
}: CreateWalletDeps): CreateWallet {
  return async (principal, body, idempotencyKey) => {
    const network = body.network ?? defaultNetwork;
    if (!rails.networks.has(network)) {
      return {
        refused: "NETWORK_UNKNOWN",
        details: [{ path: "body.network", reason: "is not a known network" }],
      };
    }
    const createdAt = new Date(now());
    const wallet: Wallet = {
      tenantId: principal.tenantId,
      id: newUuid(),
      name: body.name,
      purpose: body.purpose,
      network,
      role: null,
      state: "creating",
      frozen: false,
      version: 1,
      createdAt,
      updatedAt: createdAt,
    };
    const hash = hashRequest(body);
    const result = await store.createWallet(
      wallet,
      idempotencyKey === undefined ? undefined : { key: idempotencyKey, hash },
    );
    if ("created" in result) {
      onCreated();
      return { wallet, replayed: false };
    }
    if (result.requestHash !== hash) return { refused: "IDEMPOTENCY_KEY_REUSED" };
    // The original answer: as it was accepted.
    const { earlier } = result;
    const asAccepted = {
      ...earlier,
      state: "creating" as const,
      frozen: false,
      version: 1,
      updatedAt: earlier.createdAt,
    };
    return { wallet: asAccepted, replayed: true };
  };
}
