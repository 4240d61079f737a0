import type { ReactNode } from "react";
import { Modal } from "../../ui/dialogs/modal";

interface LostSecretProps {
  title: string;
  /** What had its effect without an answer. */
  what: string;
  /** What to do about it. */
  advice: string;
  /** Where that is done, if it is elsewhere or begins here. */
  action?: ReactNode;
  onClose: () => void;
}

/** A secret that was made, and was shown only in an answer that never came. */
export function LostSecret({ title, what, advice, action, onClose }: LostSecretProps) {
  return (
    <Modal title={title} onClose={onClose}>
      <div className="notice stack" data-tone="bad" role="alert">
        <p>
          <strong>{what}</strong> The secret that it made was in that answer alone, and cannot be shown.
        </p>
        <p>{advice}</p>
      </div>
      <div className="row">
        {action}
        <button type="button" className="button" onClick={onClose}>
          Close
        </button>
      </div>
    </Modal>
  );
}
