import { toUnits } from "../amounts/amounts.js";
import { BursarError } from "../errors/bursar-error.js";
import type { Transaction } from "../generated/schemas.js";

/** Everything that an approval covers, read once: what is shown and what is digested are both made from it. */
export interface ApprovalTerms {
  tenantId: string;
  id: string;
  kind: string;
  asset: string;
  network: string;
  /** In base units. */
  units: bigint;
  decimals: number;
  sourceWalletId: string;
  destination: { wallet_id: string } | { address: string };
  expiresAt: string | null;
  createdBy: string | null;
}

/** The service may be compromised: a value that could be shown as something else than what is digested is refused. */
export function readApprovalTerms(
  transaction: Transaction,
  tenantId: unknown,
  decimals: number,
): ApprovalTerms {
  const source = readParty("source", transaction.source);
  if (!("wallet_id" in source)) throw refused("source");
  return {
    tenantId: readText("tenant", tenantId),
    id: readText("id", transaction.id),
    kind: readText("kind", transaction.kind),
    asset: readText("asset", transaction.asset),
    network: readText("network", transaction.network),
    units: toUnits(readText("amount", transaction.amount), decimals),
    decimals,
    sourceWalletId: source.wallet_id,
    destination: readParty("destination", transaction.destination),
    expiresAt: transaction.expires_at === null ? null : readTime("expires_at", transaction.expires_at),
    createdBy: transaction.created_by === null ? null : readText("created_by", transaction.created_by),
  };
}

function readParty(name: string, party: unknown): ApprovalTerms["destination"] {
  if (typeof party !== "object" || party === null) throw refused(name);
  const [[member, value] = [], ...others] = Object.entries(party);
  if (others.length > 0) throw refused(name);
  const text = readText(name, value);
  // A wallet is not shown as an address, nor an address as a wallet.
  if (member === "wallet_id" && text.startsWith("wlt_")) return { wallet_id: text };
  if (member === "address" && !text.startsWith("wlt_")) return { address: text };
  throw refused(name);
}

function readTime(name: string, value: unknown): string {
  const text = readText(name, value);
  if (!/^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text)) throw refused(name);
  return text;
}

/** Visible ASCII characters without spaces, so that a value does not look like two, or like another one. */
function readText(name: string, value: unknown): string {
  if (typeof value !== "string" || !/^[!-~]+$/.test(value)) throw refused(name);
  return value;
}

function refused(name: string): BursarError<"RESPONSE_INVALID"> {
  return new BursarError({
    code: "RESPONSE_INVALID",
    message: `The service's ${name} of the transaction is malformed, so what an approval covers is not certain. Nothing was sent.`,
    status: 200,
    outcome: "refused",
    attempts: 1,
  });
}
