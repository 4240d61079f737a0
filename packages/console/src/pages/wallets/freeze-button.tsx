import type { Wallet } from "@bursar/client";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { bursar } from "../../api/bursar";
import { useAction } from "../../api/use-action";
import { useScopes } from "../../session/use-me";
import { Confirm } from "../../ui/dialogs/confirm";
import { faultOf } from "../../ui/forms/fault-of";
import { AreaField } from "../../ui/forms/text-field";
import { useDraft } from "../../ui/forms/use-draft";
import { ForeignText } from "../../ui/values/foreign-text";

type Act = "freeze" | "unfreeze";

/** Somebody else can freeze or unfreeze the wallet at any time. An open question stays the one that was asked. */
export function FreezeButton({ wallet }: { wallet: Wallet }) {
  const scopes = useScopes();
  const [asked, setAsked] = useState<Act>();
  const offered: Act = wallet.frozen ? "unfreeze" : "freeze";
  const close = () => setAsked(undefined);
  return (
    <>
      {scopes.includes(`wallets:${offered}`) && (
        <button
          type="button"
          className="button"
          data-tone={wallet.frozen ? undefined : "danger"}
          onClick={() => setAsked(offered)}
        >
          {wallet.frozen ? "Unfreeze" : "Freeze"}
        </button>
      )}
      {asked === "freeze" && <Freeze wallet={wallet} onClose={close} />}
      {asked === "unfreeze" && <Unfreeze wallet={wallet} onClose={close} />}
    </>
  );
}

interface QuestionProps {
  wallet: Wallet;
  onClose: () => void;
}

function Freeze({ wallet: { id, name, frozen, frozen_reason }, onClose }: QuestionProps) {
  const queries = useQueryClient();
  const draft = useDraft(`freeze.${id}`, () => ({ reason: "" }));
  const reason = draft.value.reason.trim();
  const act = useAction({
    mutationFn: () => bursar.wallets.freeze(id, reason === "" ? {} : { reason }),
    onSuccess: () => {
      draft.clear();
      onClose();
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ["wallet", id] }),
  });
  return (
    <Confirm
      title="Freeze this wallet?"
      verb="Freeze"
      tone="danger"
      mutation={act}
      onConfirm={() => act.mutate()}
      onClose={onClose}
    >
      <p>
        <ForeignText text={name} limit={60} />: Nothing leaves it any more: payments from it fail, and its
        open orders are cancelled. Payments that wait for approval keep waiting; they fail at their last
        approval if it is frozen then.
      </p>
      {frozen && (
        <p className="notice" data-tone="wait" role="status">
          It is frozen already
          {frozen_reason !== null && (
            <>
              : <ForeignText text={frozen_reason} limit={256} />
            </>
          )}
          . Frozen again, it stays frozen, and a reason that you give replaces the one that it has.
        </p>
      )}
      <AreaField
        label="Reason"
        hint="For those who decide when to unfreeze it. It is on the wallet and in the audit log."
        maxLength={256}
        rows={2}
        value={draft.value.reason}
        fault={faultOf(act.error, "reason")}
        onValue={(text) => draft.change({ reason: text })}
      />
    </Confirm>
  );
}

function Unfreeze({ wallet: { id, name, frozen }, onClose }: QuestionProps) {
  const queries = useQueryClient();
  const act = useAction({
    mutationFn: () => bursar.wallets.unfreeze(id),
    onSuccess: onClose,
    onSettled: () => queries.invalidateQueries({ queryKey: ["wallet", id] }),
  });
  return (
    <Confirm
      title="Unfreeze this wallet?"
      verb="Unfreeze with the passkey"
      mutation={act}
      isReady={frozen}
      onConfirm={() => act.mutate()}
      onClose={onClose}
    >
      <p>
        <ForeignText text={name} limit={60} />: Payments from it are processed again. Orders that were
        cancelled stay cancelled.
      </p>
      {!frozen && (
        <p className="notice" data-tone="wait" role="status">
          It is not frozen any more.
        </p>
      )}
    </Confirm>
  );
}
