import { type Asset, type AssetRegistry, parseAmount, timeOfUuidV7 } from "@bursar/domain";
import { type CreateTransactionBody, readId } from "@bursar/protocol";
import type { Principal } from "../access/principal.js";
import type { Refused } from "../refused.js";
import { isRefused } from "../refused.js";
import { hashRequest } from "../request-hash.js";
import type { WalletDirectory } from "../wallets/wallet-directory.js";
import type { AcceptQueue } from "./accept-queue.js";
import type { AcceptedTransaction, Transaction } from "./transaction.js";

export interface CreateTransactionDeps {
  assets: AssetRegistry;
  wallets: WalletDirectory;
  queue: AcceptQueue;
  newUuid: () => string;
}

interface CreatedTransaction {
  transaction: Transaction;
  /** Whether an earlier request with the same key has created it. */
  replayed: boolean;
}

export type CreateTransaction = (
  principal: Principal,
  idempotencyKey: string,
  body: CreateTransactionBody,
) => Promise<CreatedTransaction | Refused>;

/** Checks a request and makes it durable. Everything after that is the engine's. */
export function createTransactionCreator(deps: CreateTransactionDeps): CreateTransaction {
  return async (principal, idempotencyKey, body) => {
    const money = readMoney(deps.assets, body);
    if (isRefused(money)) return money;
    const wallets = await findWallets(deps.wallets, principal.tenantId, body);
    if (isRefused(wallets)) return wallets;
    const id = deps.newUuid();
    const accepted: AcceptedTransaction = {
      tenantId: principal.tenantId,
      id,
      clientId: principal.clientId,
      idempotencyKey,
      requestHash: hashRequest(body),
      reference: body.reference,
      ...money,
      ...wallets,
      metadata: body.metadata ?? null,
      expiresAt: body.expires_at === undefined ? null : new Date(body.expires_at),
      // The id's own time: lists by time are lists by id, and the two must agree to the millisecond.
      createdAt: new Date(timeOfUuidV7(id)),
    };
    const outcome = await deps.queue.accept(accepted);
    if (outcome === undefined) return { refused: "OVERLOADED" };
    if (outcome.kind === "accepted") return { transaction: { ...accepted, steps: [] }, replayed: false };
    const isSameRequest = outcome.requestHash === accepted.requestHash;
    if (!isSameRequest) return { refused: "IDEMPOTENCY_KEY_REUSED" };
    // The original answer: as it was accepted, whatever has happened since.
    return { transaction: { ...outcome.transaction, steps: [] }, replayed: true };
  };
}

function readMoney(
  assets: AssetRegistry,
  body: CreateTransactionBody,
): { asset: Asset; amount: bigint } | Refused {
  const asset = assets.find(body.asset);
  if (asset === undefined) return fieldFault("ASSET_UNKNOWN", "asset", "is not a known asset");
  const amount = parseAmount(body.amount, asset.decimals);
  switch (amount) {
    case "malformed":
      return fieldFault("INVALID_REQUEST", "amount", "must be a decimal number such as 12.50");
    case "not_positive":
      return fieldFault("INVALID_REQUEST", "amount", "must be more than zero");
    case "too_precise":
      return fieldFault("AMOUNT_PRECISION_EXCEEDED", "amount", `has more than ${asset.decimals} decimals`);
    default:
      if (amount < asset.minimum || amount > asset.maximum) {
        return fieldFault("AMOUNT_OUT_OF_RANGE", "amount", "is outside the limits of the asset");
      }
      return { asset, amount };
  }
}

function fieldFault(refused: Refused["refused"], field: string, reason: string): Refused {
  return { refused, details: [{ path: `body.${field}`, reason }] };
}

async function findWallets(
  wallets: WalletDirectory,
  tenantId: string,
  { source, destination }: CreateTransactionBody,
): Promise<{ sourceWalletId: string; destinationWalletId: string } | Refused> {
  const find = async (side: "source" | "destination", named: { wallet_id: string } | undefined) => {
    if (named === undefined)
      return await wallets.findByRole(tenantId, side === "source" ? "primary" : "settlement");
    const id = readId("wlt", named.wallet_id);
    const exists = id !== undefined && (await wallets.exists(tenantId, id));
    return exists ? id : fieldFault("WALLET_UNKNOWN", `${side}.wallet_id`, "is not a wallet of this tenant");
  };
  const sourceWalletId = await find("source", source);
  if (isRefused(sourceWalletId)) return sourceWalletId;
  const destinationWalletId = await find("destination", destination);
  if (isRefused(destinationWalletId)) return destinationWalletId;
  if (sourceWalletId === destinationWalletId) {
    return fieldFault("INVALID_REQUEST", "destination", "is the same wallet as the source");
  }
  return { sourceWalletId, destinationWalletId };
}
