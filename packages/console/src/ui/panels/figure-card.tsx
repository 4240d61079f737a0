import type { ReactNode } from "react";

interface FigureCardProps {
  title: string;
  /** Undefined while it is not known. */
  figure: ReactNode;
  tone?: "good" | "wait" | "bad" | undefined;
  children?: ReactNode;
}

/** One number that matters, what it means, and where to go from it. */
export function FigureCard({ title, figure, tone, children }: FigureCardProps) {
  return (
    <div className="card figure-card" data-tone={tone}>
      <h2>{title}</h2>
      <p className="figure">{figure ?? <span className="quiet">…</span>}</p>
      {children !== undefined && <div className="small quiet">{children}</div>}
    </div>
  );
}

/** A count that the service ends at a bound. */
export function boundedText({ count, has_more }: { count: number; has_more: boolean }): string {
  return has_more ? `${count}+` : `${count}`;
}
