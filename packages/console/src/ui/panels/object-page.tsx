import { type QueryKey, useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Loaded } from "./loaded";
import { PageHead } from "./page-head";

interface ObjectPageProps<Found> {
  title: string;
  queryKey: QueryKey;
  read: (options: { signal: AbortSignal }) => Promise<Found>;
  /** How often it is read again, by itself; never if there is no number. */
  refreshMs?: number | ((found: Found | undefined) => number | false);
  /** What can be done with it, beside the heading. */
  actions?: (found: Found) => ReactNode;
  children: (found: Found) => ReactNode;
}

/** The page of one object of the service. */
export function ObjectPage<Found>(props: ObjectPageProps<Found>) {
  const { title, queryKey, read, refreshMs, actions, children } = props;
  const query = useQuery({
    queryKey,
    queryFn: ({ signal }) => read({ signal }),
    refetchInterval: ({ state }) =>
      typeof refreshMs === "function" ? refreshMs(state.data) : (refreshMs ?? false),
  });
  return (
    <>
      <PageHead title={title}>{query.data !== undefined && actions?.(query.data)}</PageHead>
      <Loaded query={query}>{children}</Loaded>
    </>
  );
}
