import type { ReactNode } from "react";
import { Problem } from "../panels/problem";
import { Modal } from "./modal";

interface ConfirmProps {
  title: string;
  children: ReactNode;
  /** The button that does it. */
  action: ReactNode;
  error: unknown;
  onClose: () => void;
}

/** Asks before something is done that is not easily undone, or for what it needs. */
export function Confirm({ title, children, action, error, onClose }: ConfirmProps) {
  return (
    <Modal title={title} onClose={onClose}>
      <div className="stack">{children}</div>
      {error != null && <Problem error={error} />}
      <div className="row">
        {action}
        <button type="button" className="button" onClick={onClose}>
          Keep as it is
        </button>
      </div>
    </Modal>
  );
}
