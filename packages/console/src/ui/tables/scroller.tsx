import type { ReactNode } from "react";

/** What is wider than the page scrolls by itself, also by the keyboard. */
export function Scroller({
  label,
  isShort = false,
  children,
}: {
  label: string;
  isShort?: boolean;
  children: ReactNode;
}) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by the keyboard
    <section className={isShort ? "scroller short" : "scroller"} aria-label={label} tabIndex={0}>
      {children}
    </section>
  );
}
