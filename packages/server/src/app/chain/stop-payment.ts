import { showId } from "@bursar/protocol";
import type { AuditDraft } from "../audit/audit-entry.js";
import { operatorActorId } from "../events/actor.js";

/*
 * What stops a payment on a chain that has a nonce. The nonce must be used, or all payments behind it would wait without end: an empty
 * transaction uses it, and the payment ends when that is final. A stop that was decided stands, also if its cause ends: the signer may have
 * signed the empty transaction already, and signs no payment after one.
 */

/** What can keep a payment from being paid, as it is now. */
export interface PaymentHolds {
  cancelRequested: boolean;
  /** The source is frozen. */
  isFrozen: boolean;
  /** The tenant is suspended. */
  isSuspended: boolean;
  /** The client that requested it is disabled. */
  isDisabled: boolean;
}

/** What matters when something is signed. */
export interface SignedHolds extends PaymentHolds {
  /** A freeze of the source is about to be committed. */
  isFreezing: boolean;
}

/** What matters as long as nothing is signed. */
export interface UnsignedHolds extends PaymentHolds {
  /** Its address was on the allow-list when it was judged, and no longer is. */
  isDelisted: boolean;
  isExpired: boolean;
}

/** Why a payment is stopped; the code of its entry in the audit log. */
export type StopReason =
  | "CANCEL_REQUESTED"
  | "WALLET_FROZEN"
  | "TENANT_SUSPENDED"
  | "ADDRESS_NOT_LISTED"
  | "EXPIRED"
  | "CLIENT_DISABLED"
  // Of a payment that the signer has bound to a nonce, and that cannot be paid.
  | "WOULD_REVERT"
  | "FEE_TOO_HIGH";

/** Why a payment that is signed and in no block is stopped. What a disabled client requested waits for a decision. */
export function stopSigned({ cancelRequested, isFrozen, isSuspended }: PaymentHolds): StopReason | undefined {
  if (cancelRequested) return "CANCEL_REQUESTED";
  if (isFrozen) return "WALLET_FROZEN";
  return isSuspended ? "TENANT_SUSPENDED" : undefined;
}

/** Why a payment that has a nonce and no signature is stopped. */
export function stopUnsigned(holds: UnsignedHolds): StopReason | undefined {
  const stop = stopSigned(holds);
  if (stop !== undefined) return stop;
  if (holds.isDelisted) return "ADDRESS_NOT_LISTED";
  if (holds.isExpired) return "EXPIRED";
  // Unsigned, it would hold up the payments of all clients behind it.
  return holds.isDisabled ? "CLIENT_DISABLED" : undefined;
}

/** Whether bytes that pay may be signed and sent again. */
export function maySend({ isFrozen, isSuspended, isDisabled }: PaymentHolds): boolean {
  return !isFrozen && !isSuspended && !isDisabled;
}

/** How a payment ends whose nonce was used by an empty transaction. Without a reason, the signer has refused its fee. */
export function endOfStop(
  reason: StopReason | null,
): { kind: "cancel" } | { kind: "fail"; failure: StopFailure } {
  switch (reason) {
    case "WALLET_FROZEN":
    case "ADDRESS_NOT_LISTED":
    case "EXPIRED":
    case "WOULD_REVERT":
    case "FEE_TOO_HIGH":
      return { kind: "fail", failure: reason };
    default:
      return { kind: "cancel" };
  }
}

/** What a payment can fail for without being paid, also if it has a nonce. */
export type StopFailure = Exclude<StopReason, "CANCEL_REQUESTED" | "TENANT_SUSPENDED" | "CLIENT_DISABLED">;

/** A payment whose nonce is to be used by an empty transaction. */
export interface StoppedPayment {
  tenantId: string;
  id: string;
  reason: StopReason;
}

/** A stop, as it was recorded. */
export interface RecordedStop extends StoppedPayment {
  /** The client or the operator that has caused it; null if time has. */
  stoppedBy: string | null;
}

/** What the audit log says about a stop. What a client has requested is in it already. */
export function describeStop(
  { tenantId, id, reason, stoppedBy }: RecordedStop,
  occurredAt: Date,
): AuditDraft[] {
  if (reason === "CANCEL_REQUESTED") return [];
  const isOperator = stoppedBy === operatorActorId;
  const actor = stoppedBy === null ? "service" : isOperator ? "operator" : "client";
  return [
    {
      ...{ tenantId, occurredAt, actor, clientId: isOperator ? null : stoppedBy, tokenId: null },
      ...{ action: "transaction.stop", object: showId("tx", id), outcome: "succeeded", code: reason },
      ...{ repeated: 1, requestId: null, address: null },
    },
  ];
}
