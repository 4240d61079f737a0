import {
  type Asset,
  type AssetRegistry,
  type DestinationKind,
  type PolicyRequest,
  parseAmount,
  type TransactionParties,
} from "@bursar/domain";
import { type CreateTransactionBody, readId } from "@bursar/protocol";
import type { Principal } from "../access/authenticate-request.js";
import type { Rails } from "../rails/rail.js";
import { isRefused, type Refused } from "../requests/refused.js";
import type { KnownWallet } from "../wallets/wallet.js";
import type { WalletDirectory } from "../wallets/wallet-directory.js";

/** What a request asks for, once its asset, amount, wallets and address are known to be right. */
export interface TransactionRequest extends Payment {
  parties: Extract<TransactionParties, { kind: "transfer" | "payout" }>;
}

/** What is to be paid, and the wallet that pays, wherever it goes. */
export interface Payment {
  asset: Asset;
  amount: bigint;
  source: KnownWallet;
}

export interface ReadRequestDeps {
  assets: AssetRegistry;
  wallets: WalletDirectory;
  rails: Pick<Rails, "find" | "get">;
}

type GivenParty = { wallet_id: string } | { address: string } | undefined;

/** An asset moves on one network: that of the wallets on both sides, or of the address. */
export async function readTransactionRequest(
  deps: ReadRequestDeps,
  tenantId: string,
  body: Pick<CreateTransactionBody, "asset" | "amount" | "source" | "destination">,
): Promise<TransactionRequest | Refused> {
  const payment = await readPayment(deps, tenantId, body);
  if (isRefused(payment)) return payment;
  const { asset, amount, source } = payment;
  const given: GivenParty = body.destination;
  if (given !== undefined && "address" in given) {
    const { readAddress } = deps.rails.get(asset.network);
    if (readAddress === undefined)
      return fieldFault(
        "ADDRESS_NOT_SUPPORTED",
        "destination.address",
        `cannot be paid on the network ${asset.network}`,
      );
    const address = readAddress(given.address);
    if (address === undefined)
      return fieldFault(
        "INVALID_REQUEST",
        "destination.address",
        `is not an address of the network ${asset.network}`,
      );
    const parties = { kind: "payout", source: { walletId: source.id }, destination: { address } } as const;
    return { asset, amount, source, parties };
  }
  const destination = await findWallet(deps.wallets, tenantId, "destination", given);
  if (isRefused(destination)) return destination;
  if (destination.network !== asset.network) return networkMismatch("destination", destination, asset);
  if (source.id === destination.id)
    return fieldFault("INVALID_REQUEST", "destination", "must differ from the source");
  return {
    asset,
    amount,
    source,
    parties: {
      kind: "transfer",
      source: { walletId: source.id },
      destination: { walletId: destination.id },
    },
  };
}

export async function readPayment(
  { assets, wallets }: Pick<ReadRequestDeps, "assets" | "wallets">,
  tenantId: string,
  body: Pick<CreateTransactionBody, "asset" | "amount" | "source">,
): Promise<Payment | Refused> {
  const money = readMoney(assets, body);
  if (isRefused(money)) return money;
  const { asset, amount } = money;
  const source = await findWallet(wallets, tenantId, "source", body.source);
  if (isRefused(source)) return source;
  return source.network === asset.network
    ? { asset, amount, source }
    : networkMismatch("source", source, asset);
}

/** A request as policy sees it. */
export function toPolicyRequest(
  { tenantId, clientId }: Pick<Principal, "tenantId" | "clientId">,
  { asset, amount, source }: Payment,
  destination: DestinationKind,
  requestedAtMs: number,
): PolicyRequest {
  return {
    market: null,
    tenantId,
    clientId,
    asset: asset.code,
    amount,
    network: asset.network,
    sourceWalletId: source.id,
    sourcePurpose: source.purpose,
    destination,
    requestedAtMs,
  };
}

/** The asset and amount of a request, if the asset has such an amount. */
export function readMoney(
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
      return fieldFault("INVALID_REQUEST", "amount", "must be greater than zero");
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

function networkMismatch(side: "source" | "destination", wallet: KnownWallet, asset: Asset): Refused {
  return fieldFault(
    "NETWORK_MISMATCH",
    side,
    `is a wallet of the network ${wallet.network}; ${asset.code} is on ${asset.network}`,
  );
}

export function fieldFault(refused: Refused["refused"], field: string, reason: string): Refused {
  return { refused, details: [{ path: `body.${field}`, reason }] };
}
