import {
  type KeyboardEvent,
  type MouseEvent,
  type ReactNode,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
} from "react";
import { focusMain } from "../forms/use-focus-after";

/**
 * The browser's own dialog: it keeps the focus, closes by Escape and gives the focus back, to the content of the page if nothing had it.
 * Without `onClose` it stays; a browser that closes it all the same, at a second Escape, opens it again. Enter pressed twice, or held, and
 * a double click open it and do not answer it too: the focus begins at the title, with what is said below it in view, unless there is a field
 * to fill first.
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
  const heading = useRef<HTMLHeadingElement>(null);
  const headingId = useId();
  // Closed before it is removed from the document: a dialog that is not in it gives no focus back.
  useLayoutEffect(() => {
    const element = dialog.current;
    element?.showModal();
    const first = element?.querySelector<HTMLElement>("button, input, select, textarea");
    (isEmptyField(first) ? first : heading.current)?.focus();
    return () => element?.close();
  }, []);
  // Later, because React gives the focus back to what had it when it began to change the document.
  useEffect(() => () => focusMain(), []);
  return (
    <dialog
      ref={dialog}
      aria-labelledby={headingId}
      onKeyDownCapture={ignoreHeldEnter}
      onClickCapture={ignoreSecondClick}
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
        <h2 ref={heading} id={headingId} tabIndex={-1}>
          {title}
        </h2>
        {children}
      </div>
    </dialog>
  );
}

/** Enter in it cannot answer: there is something to type first, or it begins a new line. */
function isEmptyField(element: Element | null | undefined): element is HTMLElement {
  if (element instanceof HTMLTextAreaElement) return true;
  return element instanceof HTMLInputElement && element.value === "";
}

/** The browser counts the clicks at a place, whatever was drawn there in between. */
function ignoreSecondClick(event: MouseEvent): void {
  if (event.detail < 2 || !(event.target instanceof Element) || event.target.closest("button") === null)
    return;
  event.preventDefault();
  event.stopPropagation();
}

function ignoreHeldEnter(event: KeyboardEvent): void {
  if (event.repeat && event.key === "Enter" && !(event.target instanceof HTMLTextAreaElement))
    event.preventDefault();
}
