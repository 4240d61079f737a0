import { type ReactNode, useEffect, useId, useRef } from "react";

/**
 * The browser's own dialog: it keeps the focus, closes by Escape and gives the focus back. Without `onClose` it stays; a browser that closes it
 * all the same, at a second Escape, opens it again.
 */
export function Modal({
  title,
  onClose,
  children,
}: {
  title: string;
  onClose?: () => void;
  children: ReactNode;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useEffect(() => {
    const element = dialog.current;
    element?.showModal();
    return () => element?.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      aria-labelledby={heading}
      onCancel={(event) => {
        if (onClose === undefined) event.preventDefault();
      }}
      onClose={() => {
        // The event comes later; by then the dialog can have been opened again.
        if (dialog.current?.open !== false) return;
        if (onClose === undefined) dialog.current.showModal();
        else onClose();
      }}
    >
      <div className="body stack">
        <h2 id={heading}>{title}</h2>
        {children}
      </div>
    </dialog>
  );
}
