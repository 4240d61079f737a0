import { createHash } from "node:crypto";
import { type Transaction, toUnits } from "@bursar/client";

/**
 * What an approval of a transaction stands for, as the policy guide defines it: canonical JSON (RFC 8785) of everything that decides where
 * the money goes, and of who asked for it. It is made from the values that are shown to the approver, not from what the service sends as
 * the digest.
 */
export function approvalContent(transaction: Transaction, tenantId: string, decimals: number): string {
  const { id, kind, asset, network, amount, source, destination, expires_at, created_by } = transaction;
  if (source === null || !("wallet_id" in source)) throw new Error("it has no source wallet");
  return canonical({
    type: "bursar.approval.v2",
    tenant_id: tenantId,
    transaction_id: id,
    kind,
    asset,
    network,
    amount: toUnits(amount, decimals).toString(),
    source: { wallet_id: source.wallet_id },
    destination:
      "wallet_id" in destination ? { wallet_id: destination.wallet_id } : { address: destination.address },
    expires_at,
    created_by,
  });
}

export function digestOf(content: string): string {
  return createHash("sha256").update(content).digest("hex");
}

type Member = string | null | { [name: string]: Member };

/** RFC 8785 for objects of strings: members in the order of their UTF-16 code units, no spaces. */
function canonical(value: Member): string {
  if (value === null || typeof value === "string") return JSON.stringify(value);
  const members = Object.keys(value)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${canonical(value[name] as Member)}`);
  return `{${members.join(",")}}`;
}
