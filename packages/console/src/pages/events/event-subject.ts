import type { BursarEvent } from "@bursar/client";

export interface EventSubject {
  /** A checkpoint is about the audit log, which has no id. */
  id: string | undefined;
  state: string;
  /** The state before; undefined if the event has created the object, or has changed something else. */
  previous: string | undefined;
  /** Why, if somebody has given a reason. */
  reason?: string;
}

/** What an event is about, and what it has changed there. */
export function subjectOf({ event, data }: BursarEvent): EventSubject {
  switch (event) {
    case "transaction.updated":
      return changed(data.transaction, data.previous_state);
    case "wallet.updated":
      return changed(
        { id: data.wallet.id, state: walletState(data.wallet) },
        walletState({ state: data.previous_state, frozen: data.previous_frozen === true }),
        data.wallet.frozen_reason,
      );
    case "order.updated":
      return changed(data.order, data.previous_state);
    case "endpoint.disabled":
      return changed(data.webhook_endpoint, data.previous_state, data.webhook_endpoint.disabled_reason);
    case "change_request.updated":
      return changed(data.change_request, data.previous_state);
    case "audit.checkpoint":
      return { id: undefined, state: `signed up to entry ${data.checkpoint.number}`, previous: undefined };
  }
}

function changed(
  { id, state }: { id: string; state: string },
  before: string,
  reason: string | null = null,
): EventSubject {
  return {
    id,
    state,
    previous: before === "none" || before === state ? undefined : before,
    ...(reason === null || reason === "" ? {} : { reason }),
  };
}

/** A wallet that is frozen before it is active is both. */
function walletState({ state, frozen }: { state: string; frozen: boolean }): string {
  if (!frozen) return state;
  return state === "creating" ? "creating, frozen" : "frozen";
}
