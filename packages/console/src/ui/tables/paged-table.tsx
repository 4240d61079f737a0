import type { List, PageOf } from "@bursar/client";
import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Problem } from "../panels/problem";
import { LoadMore } from "./load-more";
import { refreshFirstPage } from "./refresh-first-page";
import type { Column } from "./table-head";
import { VirtualTable } from "./virtual-table";

interface PagedTableProps<Row> {
  caption: string;
  queryKey: readonly unknown[];
  /** The list from a cursor on. */
  list: (
    position: { limit: number; cursor?: string },
    options: { signal: AbortSignal },
  ) => List<Row, PageOf<Row>>;
  columns: readonly Column<Row>[];
  keyOf: (row: Row) => string;
  /** Shown if there is no row. */
  empty: ReactNode;
  refetchIntervalMs?: number;
}

const pageRows = 100;

/** A list of the service, a page at a time, as a table. */
export function PagedTable<Row>(props: PagedTableProps<Row>) {
  const { caption, queryKey, list, columns, keyOf, empty, refetchIntervalMs } = props;
  const queries = useQueryClient();
  const query = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }) =>
      list({ limit: pageRows, ...(pageParam === undefined ? {} : { cursor: pageParam }) }, { signal }).page(),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
    ...refreshFirstPage(refetchIntervalMs),
  });
  const rows = query.data?.pages.flatMap(({ data }) => data) ?? [];
  return (
    <>
      {query.error !== null && <Problem error={query.error} retry={() => void query.refetch()} />}
      {query.isPending && <p className="quiet">Loading</p>}
      {query.data !== undefined && rows.length === 0 && !query.hasNextPage && empty}
      {rows.length > 0 && <VirtualTable caption={caption} columns={columns} rows={rows} keyOf={keyOf} />}
      <LoadMore query={query} />
      {(query.data?.pages.length ?? 0) > 1 && (
        <p className="row quiet small">
          {rows.length} rows are loaded. They are not refreshed while there is more than one page.
          <button
            type="button"
            className="link"
            onClick={() => void queries.resetQueries({ queryKey, exact: true })}
          >
            Show the first page
          </button>
        </p>
      )}
    </>
  );
}
