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

type WalletNames = ReadonlyMap<string, string> | undefined;

export function bodyOf(fields: PaymentFields, names: WalletNames): CreateTransactionBody {
  const { reference, asset, amount } = fields;
  const [source, destination] = [fields.source.trim(), fields.destination.trim()];
  const to = walletIdOf(destination, names);
  return {
    reference,
    asset,
    amount,
    ...(source === "" ? {} : { source: { wallet_id: walletIdOf(source, names) ?? source } }),
    ...(destination === ""
      ? {}
      : { destination: to === undefined ? { address: destination } : { wallet_id: to } }),
  };
}

/** The wallet that was typed, by its id or by a name that no other wallet has. */
export function walletIdOf(typed: string, names: WalletNames): string | undefined {
  const text = typed.trim();
  if (text.startsWith("wlt_")) return text;
  const named = [...(names ?? [])].filter(([, name]) => name === text);
  return named.length === 1 ? named[0]?.[0] : undefined;
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
