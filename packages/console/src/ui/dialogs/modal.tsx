import { type KeyboardEvent, type ReactNode, useEffect, useId, useLayoutEffect, useRef } from "react";
import { focusMain } from "../forms/use-focus-after";

/**
 * The browser's own dialog: it keeps the focus, closes by Escape and gives the focus back, to the content of the page if nothing had it.
 * Without `onClose` it stays; a browser that closes it all the same, at a second Escape, opens it again. The Enter that has opened it does
 * not answer it too while it is held.
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
  // Closed before it is removed from the document: a dialog that is not in it gives no focus back.
  useLayoutEffect(() => {
    const element = dialog.current;
    element?.showModal();
    return () => element?.close();
  }, []);
  // Later, because React gives the focus back to what had it when it began to change the document.
  useEffect(() => () => focusMain(), []);
  return (
    <dialog
      ref={dialog}
      aria-labelledby={heading}
      onKeyDownCapture={ignoreHeldEnter}
      onCancel={(event) => {
        // Closed by what shows it, at once: the event of a dialog that has closed itself comes later, and keys in between would be lost.
        event.preventDefault();
        onClose?.();
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

function ignoreHeldEnter(event: KeyboardEvent): void {
  if (event.repeat && event.key === "Enter" && !(event.target instanceof HTMLTextAreaElement))
    event.preventDefault();
}
