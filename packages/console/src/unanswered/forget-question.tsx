import type { ReactNode } from "react";
import { Confirm } from "../ui/dialogs/confirm";

interface ForgetQuestionProps {
  /** What may have happened. */
  title: string;
  /** What to do before it is typed again. */
  children: ReactNode;
  onConfirm: () => void;
  onClose: () => void;
}

const idle = { isPending: false, error: null };

/** Asks before something is forgotten that may have been created. */
export function ForgetQuestion({ title, children, onConfirm, onClose }: ForgetQuestionProps) {
  return (
    <Confirm
      title={title}
      verb="Forget it here"
      tone="danger"
      closeVerb="Keep it"
      mutation={idle}
      onConfirm={onConfirm}
      onClose={onClose}
    >
      <p>{children}</p>
    </Confirm>
  );
}
