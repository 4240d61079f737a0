import type { Asset, CreateTransactionBody, EvaluatedTransaction } from "@bursar/client";
import { isSameAmount } from "../../unanswered/same-amount";
import type { Sent } from "../../unanswered/use-sent-once";
import { isName, isWalletId, type KnownNames, payeeOf, walletIdOf } from "./payee";

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

/** What is sent. A name that means nothing, or two things, is sent as it is, and the service refuses it. */
export function bodyOf(fields: PaymentFields, network: string, known: KnownNames): CreateTransactionBody {
  const { reference, asset, amount } = fields;
  const source = fields.source.trim();
  const payee = payeeOf(fields.destination, network, known);
  return {
    reference,
    asset,
    amount,
    ...(source === "" ? {} : { source: { wallet_id: walletIdOf(source, known.wallets) ?? source } }),
    ...(payee === undefined
      ? {}
      : { destination: "fault" in payee ? { address: fields.destination.trim() } : payee }),
  };
}

/** Whether the payment depends on what wallets or listed addresses are called. */
export function dependsOnNames({ source, destination }: PaymentFields): boolean {
  return (source.trim() !== "" && !isWalletId(source.trim())) || isName(destination);
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

/** As the service reads an amount. */
export function isAmount(text: string): boolean {
  return /^\d+(\.\d+)?$/.test(text);
}

/** Whether one amount is more than another; false if they are not both amounts. */
export function isMore(one: string, other: string): boolean {
  if (!isAmount(one) || !isAmount(other)) return false;
  const [whole, fraction] = partsOf(one);
  const [otherWhole, otherFraction] = partsOf(other);
  if (whole.length !== otherWhole.length) return whole.length > otherWhole.length;
  if (whole !== otherWhole) return whole > otherWhole;
  const length = Math.max(fraction.length, otherFraction.length);
  return fraction.padEnd(length, "0") > otherFraction.padEnd(length, "0");
}

function partsOf(amount: string): [string, string] {
  const [whole = "", fraction = ""] = amount.split(".");
  return [whole.replace(/^0+/, ""), fraction];
}
