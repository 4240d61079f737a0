import type { ReactNode } from "react";

/** Names and values, one under the other. */
export function Facts({ children }: { children: ReactNode }) {
  return <dl className="facts">{children}</dl>;
}

/** One of them; nothing if there is no value. */
export function Fact({ name, children }: { name: ReactNode; children: ReactNode }) {
  if (children === undefined || children === null || children === false) return null;
  return (
    <div className="contents">
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
