import type { ReactNode } from "react";

/** A list without entries says what it would show, and what to do next. */
export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="empty">
      <h2>{title}</h2>
      {children !== undefined && <p>{children}</p>}
    </div>
  );
}
