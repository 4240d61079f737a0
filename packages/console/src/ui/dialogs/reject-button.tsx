import { type ReactNode, useState } from "react";
import { ActionButton } from "../forms/action-button";
import { Confirm } from "./confirm";

interface RejectButtonProps {
  /** What is rejected, such as `payment`. */
  noun: string;
  isPending: boolean;
  /** What it leads to. */
  children: ReactNode;
  onReject: () => void;
}

const idle = { isPending: false, error: null };

/** Rejects after a question: a rejection is signed, and cannot be taken back. What becomes of it is shown on the page. */
export function RejectButton({ noun, isPending, children, onReject }: RejectButtonProps) {
  const [isAsking, setAsking] = useState(false);
  return (
    <>
      <ActionButton tone="danger" isPending={isPending} onAct={() => setAsking(true)}>
        Reject
      </ActionButton>
      {isAsking && (
        <Confirm
          title={`Reject this ${noun}?`}
          verb="Reject with the passkey"
          closeVerb="Go back"
          tone="danger"
          mutation={idle}
          onConfirm={() => {
            setAsking(false);
            onReject();
          }}
          onClose={() => setAsking(false)}
        >
          {children}
        </Confirm>
      )}
    </>
  );
}
