import { type RefObject, useLayoutEffect, useRef } from "react";

/**
 * A control that is disabled loses the focus, and the keyboard begins at the top of the page. What had the focus in the form when it was
 * locked has it again afterwards, unless the person has gone on elsewhere.
 */
export function useKeptFocus(form: RefObject<HTMLElement | null>, isLocked: boolean): void {
  const focused = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    const active = document.activeElement;
    if (isLocked) {
      // The browser takes the focus when it draws, which is later than this.
      focused.current = active instanceof HTMLElement && form.current?.contains(active) ? active : null;
      return;
    }
    if (active === null || active === document.body) focused.current?.focus();
    focused.current = null;
  }, [form, isLocked]);
}
