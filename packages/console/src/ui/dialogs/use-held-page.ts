import { useBlocker } from "@tanstack/react-router";

/** What is shown once is lost with the page: the browser asks before it reloads or closes it, and the way back does nothing. */
export function useHeldPage(isHeld: boolean): void {
  useBlocker({ shouldBlockFn: () => true, enableBeforeUnload: () => isHeld, disabled: !isHeld });
}
