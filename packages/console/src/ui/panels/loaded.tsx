import type { ReactNode } from "react";
import { Problem } from "./problem";

/** What a query found; while it is on its way, or if it failed, that. Old data stays in sight when a later attempt fails. */
export function Loaded<Data>({
  query,
  children,
}: {
  query: { data: Data | undefined; error: Error | null; refetch: () => unknown };
  children: (data: Data) => ReactNode;
}) {
  return (
    <>
      {query.error !== null && <Problem error={query.error} retry={() => void query.refetch()} />}
      {query.data === undefined
        ? query.error === null && <p className="quiet">Loading</p>
        : children(query.data)}
    </>
  );
}
