import { type CreateWalletBody, showId } from "@bursar/protocol";
import type { ClientOrigin } from "../audit/audit-entry.js";
import { describeReviewedAct } from "../clients/review-caller.js";
import type { Rails } from "../rails/rail.js";
import { idempotentRequest, replay } from "../requests/idempotency.js";
import type { Refused } from "../requests/refused.js";
import type { Wallet, WalletStore } from "./wallet.js";

export interface CreateWalletDeps {
  store: Pick<WalletStore, "createWallet">;
  rails: Pick<Rails, "networks">;
  onCreated: (network: string) => void;
  newUuid: () => string;
  now: () => number;
}

export type CreateWallet = (
  origin: ClientOrigin,
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
  return async (origin, body, idempotencyKey) => {
    const { principal } = origin;
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
      frozenReason: null,
      version: 1,
      address: null,
      createdBy: principal.clientId,
      createdAt,
      updatedAt: createdAt,
    };
    const request = idempotentRequest(idempotencyKey, body);
    const audit = describeReviewedAct(origin, "wallet.create", showId("wlt", wallet.id), createdAt);
    const result = await store.createWallet(wallet, request, audit);
    if ("created" in result) {
      onCreated(network);
      return { wallet, replayed: false };
    }
    const { earlier, requestHash } = result;
    return replay(requestHash, request?.hash, () => ({ wallet: asAccepted(earlier), replayed: true }));
  };
}

/** As the original answer showed it. */
function asAccepted(wallet: Wallet): Wallet {
  return {
    ...wallet,
    ...{ state: "creating", frozen: false, frozenReason: null, version: 1, address: null },
    updatedAt: wallet.createdAt,
  };
}
