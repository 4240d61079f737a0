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
  const { asset, source } = payment;
  const given: GivenParty = body.destination;
  const payee =
    given !== undefined && "address" in given
      ? await readPayee(deps, tenantId, payment, given.address)
      : await findWallet(deps, tenantId, "destination", given);
  if (isRefused(payee)) return payee;
  if (!("id" in payee)) {
    const parties = { kind: "payout", source: { walletId: source.id }, destination: payee } as const;
    return { ...payment, parties };
  }
  if (payee.network !== asset.network) return networkMismatch("destination", payee, asset);
  if (source.id === payee.id)
    return fieldFault("INVALID_REQUEST", "destination", "must differ from the source");
  const destination = { walletId: payee.id };
  return { ...payment, parties: { kind: "transfer", source: { walletId: source.id }, destination } };
}

/** Who an address belongs to: the wallet of the tenant that has it, or somebody outside. */
async function readPayee(
  { rails, wallets }: Pick<ReadRequestDeps, "rails" | "wallets">,
  tenantId: string,
  { asset, source }: Payment,
  text: string,
): Promise<KnownWallet | { address: string } | Refused> {
  const { readAddress, explainUnpayable } = rails.get(asset.network);
  const field = "destination.address";
  if (readAddress === undefined)
    return fieldFault("ADDRESS_NOT_SUPPORTED", field, `cannot be paid on the network ${asset.network}`);
  const read = readAddress(text);
  if (!("address" in read)) return fieldFault("ADDRESS_INVALID", field, read.fault);
  const fault = explainUnpayable?.(read.address, { asset: asset.code, source: source.address });
  if (fault !== undefined) return fieldFault("ADDRESS_INVALID", field, fault);
  return (await wallets.findByAddress(tenantId, asset.network, read.address)) ?? read;
}

export async function readPayment(
  deps: ReadRequestDeps,
  tenantId: string,
  body: Pick<CreateTransactionBody, "asset" | "amount" | "source">,
): Promise<Payment | Refused> {
  const money = readMoney(deps.assets, body);
  if (isRefused(money)) return money;
  const { asset, amount } = money;
  const source = await findWallet(deps, tenantId, "source", body.source);
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
  { wallets, rails }: Pick<ReadRequestDeps, "wallets" | "rails">,
  tenantId: string,
  side: "source" | "destination",
  named: { wallet_id: string } | undefined,
): Promise<KnownWallet | Refused> {
  if (named === undefined)
    return await wallets.findByRole(tenantId, side === "source" ? "primary" : "settlement");
  const id = readId("wlt", named.wallet_id);
  const wallet = id === undefined ? undefined : await wallets.find(tenantId, id);
  if (wallet === undefined)
    return fieldFault("WALLET_UNKNOWN", `${side}.wallet_id`, "is not a wallet of this tenant");
  // A wallet without an address can neither pay nor be paid on its network. Others are usable before they are active.
  if (wallet.address === null && rails.find(wallet.network)?.activatesWalletsAtOnce === false)
    return fieldFault("WALLET_CREATING", `${side}.wallet_id`, "is a wallet that has no address yet");
  return wallet;
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
