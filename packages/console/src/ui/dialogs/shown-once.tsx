import { CopyButton } from "../values/copy-button";
import { Modal } from "./modal";
import { StoredButton } from "./stored-button";
import { useHeldPage } from "./use-held-page";

interface ShownOnceProps {
  title: string;
  /** Null if the service has shown it before, to a request with the same key. */
  value: string | null;
  children: React.ReactNode;
  onClose: () => void;
}

/** A secret or a link that the service shows a single time. It is kept nowhere in the page when this is closed, and only the button closes it. */
export function ShownOnce({ title, value, children, onClose }: ShownOnceProps) {
  useHeldPage(value !== null);
  return (
    <Modal title={title} {...(value === null ? { onClose } : {})}>
      <p>{children}</p>
      {value === null ? (
        <p className="notice" data-tone="wait">
          It was shown already, to an earlier attempt with the same key, and cannot be shown again. Make a new
          one.
        </p>
      ) : (
        <>
          <pre className="wrap-anywhere">{value}</pre>
          <div className="row">
            <CopyButton text={value} label={`Copy: ${title}`} />
          </div>
        </>
      )}
      <div className="row">
        <StoredButton onDone={onClose}>{value === null ? "Close" : "I have kept it"}</StoredButton>
      </div>
    </Modal>
  );
}
