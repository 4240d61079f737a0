import { useState } from "react";
import { Confirm } from "../../ui/dialogs/confirm";
import { ActionButton } from "../../ui/forms/action-button";
import { ForeignText } from "../../ui/values/foreign-text";
import { useWaitingPayments, WaitingPayments } from "./waiting-payments";

interface EnableProps {
  id: string;
  name: string;
  kind: "client" | "person";
  isPending: boolean;
  onEnable: () => void;
}

/** Asks first, because what has waited is paid at once. */
export function Enable(props: EnableProps) {
  const [isAsking, setAsking] = useState(false);
  return (
    <>
      <ActionButton tone="primary" isPending={props.isPending} onAct={() => setAsking(true)}>
        Enable
      </ActionButton>
      {isAsking && <EnableDialog {...props} onClose={() => setAsking(false)} />}
    </>
  );
}

function EnableDialog({
  id,
  name,
  kind,
  isPending,
  onEnable,
  onClose,
}: EnableProps & { onClose: () => void }) {
  const waiting = useWaitingPayments(id);
  return (
    <Confirm
      title={`Enable this ${kind}?`}
      verb="Enable with the passkey"
      mutation={{ isPending, error: null }}
      isChecking={waiting.isLoading}
      onConfirm={() => {
        onClose();
        onEnable();
      }}
      onClose={onClose}
    >
      <p>
        <ForeignText text={name} /> can act again. Payments of this {kind} that wait only for this are
        processed at once, if the policy still allows them. Cancel those that must not be paid before.
      </p>
      <WaitingPayments clientId={id} query={waiting} />
    </Confirm>
  );
}
