import type { Transaction } from "@bursar/client";
import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { bursar } from "../../api/bursar";
import { useAction } from "../../api/use-action";
import { useScopes } from "../../session/use-me";
import { Confirm } from "../../ui/dialogs/confirm";
import { ActionButton } from "../../ui/forms/action-button";
import { Amount } from "../../ui/values/amount";
import { ForeignText } from "../../ui/values/foreign-text";
import { isFinal } from "./follow-transaction";
import { SpeedUp } from "./speed-up";
import { cancellationNote, mayBeCancelled, mayBeSpedUp } from "./transaction-stage";

/** What can be done with a transaction. */
export function TransactionActions({ transaction }: { transaction: Transaction }) {
  const scopes = useScopes();
  const { id, state } = transaction;
  return (
    <>
      {state === "awaiting_approval" && (
        <Link
          to="/approvals/$id"
          params={{ id }}
          className="button"
          data-tone={scopes.includes("transactions:approve") ? "primary" : undefined}
        >
          {scopes.includes("transactions:approve") ? "Decide" : "Open the approval"}
        </Link>
      )}
      {scopes.includes("transactions:write") && (
        <>
          <SpeedUp transaction={transaction} mayAct={mayBeSpedUp(transaction)} />
          <Cancel transaction={transaction} />
        </>
      )}
    </>
  );
}

function Cancel({ transaction }: { transaction: Transaction }) {
  const queries = useQueryClient();
  const [isAsking, setAsking] = useState(false);
  const { id, state, reference, amount, asset, cancel_request } = transaction;
  const cancel = useAction({
    mutationFn: () => bursar.transactions.cancel(id),
    onSuccess: () => setAsking(false),
    onSettled: () => queries.invalidateQueries({ queryKey: ["transaction", id] }),
  });
  const isCancellable = mayBeCancelled(transaction);
  const wasRequested = cancel_request !== null || (cancel.isSuccess && !isFinal(transaction));
  return (
    <>
      {wasRequested && <p role="status">The cancellation was requested.</p>}
      {isCancellable && !wasRequested && (
        <ActionButton tone="danger" isPending={cancel.isPending} onAct={() => setAsking(true)}>
          Cancel the payment
        </ActionButton>
      )}
      {isAsking && (
        <Confirm
          title="Cancel this payment?"
          verb="Cancel the payment"
          tone="danger"
          closeVerb="Keep it"
          mutation={cancel}
          isReady={isCancellable}
          onConfirm={cancel.mutate}
          onClose={() => setAsking(false)}
        >
          <p>
            <ForeignText text={reference} />, <Amount value={amount} asset={asset} />. This cannot be undone.
          </p>
          {isCancellable ? (
            <p>{cancellationNote(transaction)}</p>
          ) : (
            <p className="notice" data-tone="bad" role="alert">
              It can no longer be cancelled: it is {state} by now.
            </p>
          )}
        </Confirm>
      )}
    </>
  );
}
