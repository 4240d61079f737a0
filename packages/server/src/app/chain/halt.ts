import { showId } from "@bursar/protocol";
import type { AuditDraft } from "../audit/audit-entry.js";

/**
 * Why a network or a wallet is halted, for the audit log. A halt ends by a command of the operator: what it is about is either an attack or a
 * mistake outside the service, and no retry makes it right.
 */
export type HaltCode =
  | "NETWORK_DISPUTED"
  | "CHAIN_REPLACED"
  | "REORGANISED_BELOW_FINALITY"
  | "NONCE_USED_ELSEWHERE"
  | "NONCE_BELOW_BOOKS"
  | "BALANCE_BELOW_BOOKS"
  | "PAYMENT_AT_FAULT"
  | "SIGNER_REFUSED"
  | "PAYMENT_TAMPERED"
  | "SETTLEMENT_FAILED";

/**
 * Of wallets of which the chain or the signer knows more payments than the books. A balance below the books is not such a reason: its halt
 * ends only when payments are cancelled that hold what is missing.
 */
export const aheadCodes = ["NONCE_USED_ELSEWHERE", "SIGNER_REFUSED"] as const satisfies readonly HaltCode[];

/** A payment that is about to be signed or sent, and halts its wallet if something other than the service has written a row of it. */
export interface MayBeTampered {
  /** Why it must not be signed or sent, as a sentence for the operator; null if it may be. */
  fault: string | null;
}

export interface Halt {
  code: HaltCode;
  /** A sentence for the operator, with the values. */
  reason: string;
  at: Date;
  /** What the audit log says. */
  entry: AuditDraft;
}

export function haltOfNetwork(network: string, code: HaltCode, reason: string, at: Date): Halt {
  return { code, reason, at, entry: entryOf(undefined, "network.halt", network, code, at) };
}

export function haltOfWallet(
  { tenantId, walletId }: { tenantId: string; walletId: string },
  code: HaltCode,
  reason: string,
  at: Date,
): Halt {
  return { code, reason, at, entry: entryOf(tenantId, "wallet.halt", showId("wlt", walletId), code, at) };
}

/** The signer has shown, with a wallet of this network, that the database went back, so that no wallet of any network is confirmed. */
export function doubtOfWallets(network: string, at: Date): AuditDraft {
  return entryOf(undefined, "wallets.doubt", network, "SIGNER_AHEAD", at);
}

function entryOf(
  tenantId: string | undefined,
  action: string,
  object: string,
  code: HaltCode | "SIGNER_AHEAD",
  occurredAt: Date,
): AuditDraft {
  return {
    ...{ tenantId, occurredAt, actor: "service", clientId: null, tokenId: null, action, object },
    ...{ outcome: "succeeded", code, repeated: 1, requestId: null, address: null },
  };
}
