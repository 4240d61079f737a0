import type { Asset, CreateTransactionBody, EvaluatedTransaction } from "@bursar/client";
import type { WalletNames } from "../../api/wallet-names";
import { isSameAmount } from "../../unanswered/same-amount";
import type { Sent } from "../../unanswered/use-sent-once";

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

/** A payment that is being written. */
export type PaymentDraft = PaymentFields & Sent<CreateTransactionBody>;

export const emptyDraft = (): PaymentDraft => ({ ...emptyPayment(), sent: undefined });

export function bodyOf(fields: PaymentFields, names: WalletNames | undefined): CreateTransactionBody {
  const { reference, asset, amount } = fields;
  const [source, destination] = [fields.source.trim(), fields.destination.trim()];
  const to = payeeIdOf(destination, names);
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
export function walletIdOf(typed: string, names: WalletNames | undefined): string | undefined {
  const text = typed.trim();
  if (isWalletId(text)) return text;
  const named = [...(names ?? [])].filter(([, name]) => name === text);
  return named.length === 1 ? named[0]?.[0] : undefined;
}

/** The same for what is paid to. An address is never a name: otherwise a wallet that is named like it would get the payment. */
export function payeeIdOf(typed: string, names: WalletNames | undefined): string | undefined {
  return couldBeAddress(typed.trim()) ? undefined : walletIdOf(typed, names);
}

/** What is wrong with a name that was typed. Nothing if it is empty, an id, or may be an address, or if the names are not all known. */
export function nameFaultOf(typed: string, names: WalletNames | undefined): string | undefined {
  const text = typed.trim();
  if (names === undefined || names.size === 0 || !isName(text) || couldBeAddress(text)) return undefined;
  const count = [...names.values()].filter((name) => name === text).length;
  if (count === 1) return undefined;
  return count === 0
    ? "No wallet has this name. Upper and lower case differ."
    : `${count} wallets have this name. Choose one of them by its id.`;
}

/** Whether the payment depends on what the wallets are called. */
export function namesWallet({ source, destination }: PaymentFields): boolean {
  return isName(source.trim()) || (isName(destination.trim()) && !couldBeAddress(destination.trim()));
}

function isName(text: string): boolean {
  return text !== "" && !isWalletId(text);
}

function isWalletId(text: string): boolean {
  return text.startsWith("wlt_");
}

/** On any network: long words of letters and digits, which may have a prefix. */
function couldBeAddress(text: string): boolean {
  return /^0x/i.test(text) || /^[a-z0-9:]{20,}$/i.test(text);
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

/** Whether one can be the other, typed again: it has its reference, or moves as much of the same asset. */
export function isAlike(one: CreateTransactionBody, other: CreateTransactionBody): boolean {
  return (
    one.reference === other.reference || (one.asset === other.asset && isSameAmount(one.amount, other.amount))
  );
}
