import type { ReactNode } from "react";

interface ActionButtonProps {
  /** The mutation that it starts, or a part of one. */
  isPending: boolean;
  onAct: () => void;
  children: ReactNode;
  tone?: "primary" | "danger";
  disabled?: boolean;
}

/** A button that starts something once, and says so while it lasts. A passkey may be asked for meanwhile. */
export function ActionButton({ isPending, onAct, children, tone, disabled = false }: ActionButtonProps) {
  return (
    <button
      type="button"
      className="button"
      data-tone={tone}
      disabled={isPending || disabled}
      aria-busy={isPending}
      onClick={onAct}
    >
      {isPending ? "Please wait" : children}
    </button>
  );
}
