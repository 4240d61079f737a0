import type { UseInfiniteQueryResult } from "@tanstack/react-query";

/** The next page of a list, if there is one. */
export function LoadMore({
  query: { hasNextPage, isFetchingNextPage, fetchNextPage },
}: {
  query: Pick<UseInfiniteQueryResult, "hasNextPage" | "isFetchingNextPage" | "fetchNextPage">;
}) {
  if (!hasNextPage) return null;
  return (
    <div className="row">
      <button
        type="button"
        className="button"
        disabled={isFetchingNextPage}
        onClick={() => void fetchNextPage()}
      >
        Load more
      </button>
    </div>
  );
}
