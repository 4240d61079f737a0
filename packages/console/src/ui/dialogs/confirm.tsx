import { type ReactNode, useEffect, useRef } from "react";
import { useKeptFocus } from "../forms/use-kept-focus";
import { Problem } from "../panels/problem";
import { Modal } from "./modal";

interface ConfirmProps {
  title: string;
  children: ReactNode;
  /** The words on the button that does it. */
  verb: string;
  tone?: "primary" | "danger";
  /** What the button starts. */
  mutation: { isPending: boolean; error: unknown };
  /** Whether everything that it needs is there. */
  isReady?: boolean;
  /** Whether what there is to know before is still being read. The button keeps the focus, and does nothing until then. */
  isChecking?: boolean;
  closeVerb?: string;
  onConfirm: () => void;
  onClose: () => void;
}

/** Asks before something is done that is not easily undone, or for what it needs. Enter in a field does it too. */
export function Confirm(props: ConfirmProps) {
  const { title, children, verb, tone = "primary", mutation, isReady = true, isChecking = false } = props;
  const { closeVerb = "Cancel", onConfirm, onClose } = props;
  const form = useRef<HTMLFormElement>(null);
  useKeptFocus(form, mutation.isPending);
  const submit = useRef<HTMLButtonElement>(null);
  const close = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    const active = document.activeElement;
    // A button that cannot be pressed any more loses the focus, and the keyboard would have none in the dialog.
    if (!isReady && (active === document.body || active === submit.current)) close.current?.focus();
  }, [isReady]);
  return (
    <Modal title={title} onClose={onClose}>
      <form
        ref={form}
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady && !isChecking && !mutation.isPending) onConfirm();
        }}
      >
        {/* What is on its way is not edited. */}
        <fieldset className="contents" disabled={mutation.isPending}>
          {children}
        </fieldset>
        {mutation.error != null && <Problem error={mutation.error} />}
        <div className="row">
          <button
            ref={submit}
            type="submit"
            className="button"
            data-tone={tone}
            disabled={mutation.isPending || !isReady}
            aria-disabled={isChecking}
            aria-busy={mutation.isPending || isChecking}
          >
            {mutation.isPending ? "Please wait" : isChecking ? "Checking" : verb}
          </button>
          <button ref={close} type="button" className="button" onClick={onClose}>
            {closeVerb}
          </button>
        </div>
      </form>
    </Modal>
  );
}
