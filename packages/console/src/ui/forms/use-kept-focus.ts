import { type RefObject, useEffect, useLayoutEffect, useRef } from "react";

/**
 * A control that is disabled loses the focus, and the keyboard begins at the top of the page. What had the focus in the form when it was
 * locked has it again afterwards, unless the person has gone on elsewhere. The dialog that has asked before gives the focus back to the
 * control in the same moment that disables it, so the control is known by its events.
 */
export function useKeptFocus(form: RefObject<HTMLElement | null>, isLocked: boolean): void {
  const last = useRef<HTMLElement>(null);
  const kept = useRef<HTMLElement>(null);
  useEffect(() => {
    const element = form.current;
    const enter = ({ target }: FocusEvent) => {
      last.current = target instanceof HTMLElement ? target : null;
    };
    const leave = ({ relatedTarget }: FocusEvent) => {
      // A control that is disabled loses it to nothing.
      if (relatedTarget !== null) last.current = null;
    };
    element?.addEventListener("focusin", enter);
    element?.addEventListener("focusout", leave);
    return () => {
      element?.removeEventListener("focusin", enter);
      element?.removeEventListener("focusout", leave);
    };
  }, [form]);
  useLayoutEffect(() => {
    const active = document.activeElement;
    if (isLocked) {
      // The browser takes the focus when it draws, which can be later than this.
      const hasFocus = active instanceof HTMLElement && form.current?.contains(active);
      kept.current = hasFocus ? active : active === document.body ? last.current : null;
      return;
    }
    // A dialog that has closed meanwhile has given the focus to the content of the page.
    if (active === null || active === document.body || active.id === "main") kept.current?.focus();
    kept.current = null;
  }, [form, isLocked]);
}
