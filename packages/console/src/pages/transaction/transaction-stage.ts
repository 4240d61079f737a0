import type { Transaction } from "@bursar/client";
import { isFinal } from "./follow-transaction";

type Stage = Pick<Transaction, "state" | "kind" | "network">;

/** Whether the service still accepts a cancellation: not of what is in a block, and not of a deposit, which others have sent. */
export function mayBeCancelled({ state, kind }: Stage): boolean {
  return kind !== "deposit" && ["accepted", "awaiting_approval", "processing", "broadcast"].includes(state);
}

/** Whether it waits for a block, where higher fees can help. The service knows what else prevents it, such as a lower nonce. */
export function mayBeSpedUp({
  state,
  kind,
  cancel_request,
}: Stage & Pick<Transaction, "cancel_request">): boolean {
  return kind !== "deposit" && state === "broadcast" && cancel_request === null;
}

/** What is shown after an event. Events do not say that a cancellation was requested. */
export function whenChanged(known: Transaction | undefined, changed: Transaction): Transaction {
  if (known === undefined) return changed;
  if (known.version >= changed.version) return known;
  return { ...changed, cancel_request: isFinal(changed) ? null : known.cancel_request };
}

/** What a cancellation does now. */
export function cancellationNote({ state, network }: Stage): string {
  if (state === "awaiting_approval") return "Nothing is paid, and what it holds is released.";
  if (state === "accepted" || network === "book") return "Nothing is paid.";
  return (
    `It is on its way to ${network}, and a cancellation can only be requested. If it has a nonce, an empty transaction from the wallet to ` +
    "itself uses that. When the empty transaction is final, the amount is released, and the wallet has paid its network fee. If a block " +
    "includes the payment first, it is paid."
  );
}

/** What is said about a transaction without entries in the ledger. */
export function noEntriesNote({ state, kind, network }: Stage): string {
  switch (state) {
    case "completed":
    case "rejected":
    case "failed":
    case "cancelled":
      return "Nothing was moved.";
    case "accepted":
      return "Nothing is held or moved yet.";
    default:
      if (kind === "deposit") return "Nothing is credited yet. It is credited when its block is final.";
      if (network === "book") return "Nothing is moved yet. The amount is held in the wallet that pays.";
      if (state === "awaiting_approval")
        return "Nothing is moved yet. The amount is held in the wallet that pays, and is posted when it is approved and its block is final.";
      return "Nothing is moved in the ledger yet. The amount and the network fee are held in the wallet that pays, and are posted when its block is final.";
  }
}
