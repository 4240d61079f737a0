import type { CreateTransactionBody, Transaction } from "@bursar/client";
import { isSameAmount } from "../../unanswered/same-amount";

const paidNothing: readonly string[] = ["rejected", "failed", "cancelled"];

interface PaidBefore {
  /** They move as much of the same asset. */
  same: Transaction[];
  /** They pay the same payee another amount or asset, as after a typing error. */
  other: Transaction[];
}

/** Those of earlier transactions with the reference of a payment that can be this payment, made before. */
export function findPaidBefore(
  earlier: readonly Transaction[],
  { reference, asset, amount, destination }: CreateTransactionBody,
  payeeId: string | undefined,
): PaidBefore {
  const paid = earlier.filter(
    (one) => one.reference === reference && one.kind !== "deposit" && !paidNothing.includes(one.state),
  );
  const isSame = (one: Transaction) => one.asset === asset && isSameAmount(one.amount, amount);
  const isPayee = ({ destination: to }: Transaction) =>
    "address" in to
      ? destination !== undefined &&
        "address" in destination &&
        isSameAddress(to.address, destination.address)
      : to.wallet_id ===
        (destination !== undefined && "wallet_id" in destination ? destination.wallet_id : payeeId);
  return { same: paid.filter(isSame), other: paid.filter((one) => !isSame(one) && isPayee(one)) };
}

/** Upper and lower case are a checksum in addresses of some networks. A warning too many does less harm than one that is missing. */
function isSameAddress(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}
