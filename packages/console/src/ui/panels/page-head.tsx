import { type ReactNode, useEffect } from "react";

/** The heading of a page, with what can be done there; it names the tab as well. */
export function PageHead({ title, children }: { title: string; children?: ReactNode }) {
  useEffect(() => {
    document.title = `${title} · Bursar`;
  }, [title]);
  return (
    <div className="row spread">
      <h1 tabIndex={-1} data-page-title>
        {title}
      </h1>
      <div className="row">{children}</div>
    </div>
  );
}
