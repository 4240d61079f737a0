import type { ReactNode } from "react";

/** Closes what is shown once. The second half of the double click that has opened it lands here too, and does not count. */
export function StoredButton({ onDone, children }: { onDone: () => void; children: ReactNode }) {
  return (
    <button
      type="button"
      className="button"
      data-tone="primary"
      onClick={({ detail: clicks }) => {
        if (clicks < 2) onDone();
      }}
    >
      {children}
    </button>
  );
}
