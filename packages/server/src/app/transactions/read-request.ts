import { type Asset, type AssetRegistry, type PolicyRequest, parseAmount } from "@bursar/domain";
import { type CreateTransactionBody, readId } from "@bursar/protocol";
import type { Principal } from "../access/authenticate-request.js";
import { isRefused, type Refused } from "../requests/refused.js";
import type { KnownWallet } from "../wallets/wallet.js";
import type { WalletDirectory } from "../wallets/wallet-directory.js";

/** What a request asks for, once its asset, amount and wallets are known to exist. */
export interface TransactionRequest extends Payment {
  destination: KnownWallet;
}

/** How much of what is to be paid by whom, wherever it goes. */
export interface Payment {
  asset: Asset;
  amount: bigint;
  source: KnownWallet;
}

export interface ReadRequestDeps {
  assets: AssetRegistry;
  wallets: WalletDirectory;
}

export async function readTransactionRequest(
  deps: ReadRequestDeps,
  tenantId: string,
  body: Pick<CreateTransactionBody, "asset" | "amount" | "source" | "destination">,
): Promise<TransactionRequest | Refused> {
  const payment = await readPayment(deps, tenantId, body);
  if (isRefused(payment)) return payment;
  const destination = await findWallet(deps.wallets, tenantId, "destination", body.destination);
  if (isRefused(destination)) return destination;
  const { asset, amount, source } = payment;
  if (source.id === destination.id) {
    return fieldFault("INVALID_REQUEST", "destination", "is the same wallet as the source");
  }
  return { asset, amount, source, destination };
}

export async function readPayment(
  { assets, wallets }: ReadRequestDeps,
  tenantId: string,
  body: Pick<CreateTransactionBody, "asset" | "amount" | "source">,
): Promise<Payment | Refused> {
  const money = readMoney(assets, body);
  if (isRefused(money)) return money;
  const source = await findWallet(wallets, tenantId, "source", body.source);
  return isRefused(source) ? source : { asset: money.asset, amount: money.amount, source };
}

/** A request as policy sees it. Only a tenant's own wallets can be paid on the book. */
export function toPolicyRequest(
  { tenantId, clientId }: Pick<Principal, "tenantId" | "clientId">,
  { asset, amount, source }: Payment,
  requestedAtMs: number,
): PolicyRequest {
  return {
    tenantId,
    clientId,
    asset: asset.code,
    amount,
    network: source.network,
    sourceWalletId: source.id,
    sourcePurpose: source.purpose,
    destination: "own_wallet",
    requestedAtMs,
  };
}

function readMoney(
  assets: AssetRegistry,
  body: Pick<CreateTransactionBody, "asset" | "amount">,
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

async function findWallet(
  wallets: WalletDirectory,
  tenantId: string,
  side: "source" | "destination",
  named: { wallet_id: string } | undefined,
): Promise<KnownWallet | Refused> {
  if (named === undefined)
    return await wallets.findByRole(tenantId, side === "source" ? "primary" : "settlement");
  const id = readId("wlt", named.wallet_id);
  const wallet = id === undefined ? undefined : await wallets.find(tenantId, id);
  return wallet ?? fieldFault("WALLET_UNKNOWN", `${side}.wallet_id`, "is not a wallet of this tenant");
}

function fieldFault(refused: Refused["refused"], field: string, reason: string): Refused {
  return { refused, details: [{ path: `body.${field}`, reason }] };
}
