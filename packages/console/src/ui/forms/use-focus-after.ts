import { type RefObject, useEffect, useLayoutEffect, useRef } from "react";

/** The keyboard goes on in the content of the page, and not at its top, if nothing has the focus. */
export function focusMain(): void {
  if (document.activeElement === document.body)
    document.getElementById("main")?.focus({ preventScroll: true });
}

/** What has the focus can be removed, such as the row of an order that was cancelled. The content of the page has it then. */
export function useFocusAfter(part: RefObject<HTMLElement | null>): void {
  const hadFocus = useRef(false);
  useLayoutEffect(() => {
    const element = part.current;
    // Before it is removed from the document.
    return () => {
      hadFocus.current = element?.contains(document.activeElement) === true;
    };
  }, [part]);
  useEffect(
    () => () => {
      if (hadFocus.current) focusMain();
    },
    [],
  );
}
