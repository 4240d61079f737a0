import type { PaymentFacts, WalletKey } from "../../../src/app/chain/chain-store.js";
import { type ChainPaymentRow, chainPayments, chainWallets } from "./simulated-chain-tables.js";
import type { Rows } from "./simulated-rows.js";
import { keyOf, transactions } from "./simulated-tables.js";

export function openPayments(rows: Rows): ChainPaymentRow[] {
  return rows.all(chainPayments).filter(({ stage }) => stage === "assigned" || stage === "signed");
}

export function findWallets(rows: Rows, addresses: readonly string[]): Map<string, WalletKey> {
  return new Map(
    rows
      .all(chainWallets)
      .filter(({ address }) => addresses.includes(address))
      .map(({ address, tenantId, walletId }) => [address, { tenantId, walletId }]),
  );
}

export function factsOf(
  rows: Rows,
  { tenantId, id, walletId }: Pick<ChainPaymentRow, "tenantId" | "id" | "walletId">,
): PaymentFacts {
  const accepted = rows.get(transactions, keyOf(tenantId, id));
  const wallet = rows.get(chainWallets, keyOf(tenantId, walletId));
  if (accepted === undefined || wallet === undefined || accepted.parties.kind === "deposit")
    throw new Error("a payment has no transaction");
  const { parties, asset, amount } = accepted;
  const own = "walletId" in parties.destination ? parties.destination.walletId : undefined;
  const paid = own === undefined ? undefined : rows.get(chainWallets, keyOf(tenantId, own));
  const outside = "address" in parties.destination ? parties.destination.address : "";
  return {
    ...{ tenantId, id, walletId, kind: parties.kind, asset: asset.code, amount, address: wallet.address },
    destination: paid?.address ?? outside,
    destinationAccountId: own ?? "outside",
  };
}
