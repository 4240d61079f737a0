import type { Asset, CreateTransactionBody, EvaluatedTransaction } from "@bursar/client";

/** A payment as a person types it; what is empty has a default. */
export interface PaymentFields {
  reference: string;
  asset: string;
  amount: string;
  source: string;
  destination: string;
}

export const emptyPayment = (): PaymentFields => ({
  reference: "",
  asset: "",
  amount: "",
  source: "",
  destination: "",
});

export function bodyOf(fields: PaymentFields): CreateTransactionBody {
  const { reference, asset, amount, source, destination } = fields;
  const to = destination.startsWith("wlt_") ? { wallet_id: destination } : { address: destination };
  return {
    reference,
    asset,
    amount,
    ...(source === "" ? {} : { source: { wallet_id: source } }),
    ...(destination === "" ? {} : { destination: to }),
  };
}

/** A dry run names the network of an address, which a payment takes from its asset. */
export function evaluatedOf(
  { destination, ...others }: CreateTransactionBody,
  network: string,
): EvaluatedTransaction {
  if (destination === undefined) return others;
  return {
    ...others,
    destination: "address" in destination ? { network, address: destination.address } : destination,
  };
}

export function networkOf(asset: string, assets: readonly Asset[] | undefined): string {
  return assets?.find(({ code }) => code === asset)?.network ?? "";
}
