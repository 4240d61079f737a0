import type { Transaction } from "@bursar/client";
import { useState } from "react";
import { bursar } from "../../api/bursar";
import { useAction } from "../../api/use-action";
import { Confirm } from "../../ui/dialogs/confirm";
import { ActionButton } from "../../ui/forms/action-button";
import { Amount } from "../../ui/values/amount";
import { ForeignText } from "../../ui/values/foreign-text";

/** Sends a payment that waits for a block again with higher fees. It changes no version, so the page says by itself that it was requested. */
export function SpeedUp({ transaction, mayAct }: { transaction: Transaction; mayAct: boolean }) {
  const [isAsking, setAsking] = useState(false);
  const { id, network, reference, amount, asset, state } = transaction;
  const speedUp = useAction({
    mutationFn: () => bursar.transactions.speedUp(id),
    onSuccess: () => setAsking(false),
  });
  if (!mayAct && !isAsking) return null;
  const ask = () => {
    speedUp.reset();
    setAsking(true);
  };
  return (
    <>
      {speedUp.isSuccess && (
        <p role="status">
          Higher fees were requested. The hash stays the same until a block has the payment.
        </p>
      )}
      <ActionButton isPending={speedUp.isPending} onAct={ask}>
        Speed up
      </ActionButton>
      {isAsking && (
        <Confirm
          title="Send this payment again with higher fees?"
          verb="Speed up"
          closeVerb="Leave it as it is"
          mutation={speedUp}
          isReady={mayAct}
          onConfirm={speedUp.mutate}
          onClose={() => setAsking(false)}
        >
          <p>
            <ForeignText text={reference} />, <Amount value={amount} asset={asset} />.
          </p>
          {mayAct ? (
            <p>
              It is sent to {network} once more with fees that are at least 12.5 % higher, up to twice what
              the network asks for now, and within the caps that the operator has set. Only one of the two can
              be in a block, so it is paid once at most. The wallet pays the higher fee.
            </p>
          ) : (
            <p className="notice" data-tone="bad" role="alert">
              It can no longer be sped up: it is {state === "broadcast" ? "being cancelled" : state} by now.
            </p>
          )}
        </Confirm>
      )}
    </>
  );
}
