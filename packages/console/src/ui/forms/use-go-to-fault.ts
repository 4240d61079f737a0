import { type RefObject, useEffect } from "react";

/** After a refusal, the first control that is at fault is in sight and has the focus, also if it was folded. */
export function useGoToFault(form: RefObject<HTMLElement | null>, error: unknown): void {
  useEffect(() => {
    if (error == null) return;
    const fault = form.current?.querySelector<HTMLElement>('[aria-invalid="true"], .fault');
    if (fault == null) return;
    const folded = fault.closest("details");
    if (folded !== null) folded.open = true;
    fault.scrollIntoView({ block: "center" });
    fault.focus();
  }, [form, error]);
}
