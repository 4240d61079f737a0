interface PagedQuery {
  state: { data?: { pages: readonly unknown[] } | undefined };
}

/**
 * Lets a list be read again by itself only while one page of it is loaded. A list of many pages is read page after page, so a person who has
 * loaded a hundred would send a hundred requests each time.
 */
export function refreshFirstPage(intervalMs?: number) {
  const hasOnePage = ({ state }: PagedQuery) => (state.data?.pages.length ?? 0) <= 1;
  return {
    refetchInterval: (query: PagedQuery) =>
      intervalMs !== undefined && hasOnePage(query) ? intervalMs : (false as const),
    refetchOnWindowFocus: hasOnePage,
    refetchOnReconnect: hasOnePage,
  };
}
