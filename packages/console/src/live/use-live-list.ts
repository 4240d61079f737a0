import { useEffect, useSyncExternalStore } from "react";
import type { LiveList, LiveState } from "./live-list";

/** What the list shows, kept up to date as long as the component is on the page. */
export function useLiveList<Row>(list: LiveList<Row>): LiveState<Row> {
  useEffect(() => {
    const ending = new AbortController();
    void list.run(ending.signal);
    return () => ending.abort();
  }, [list]);
  return useSyncExternalStore(list.subscribe, list.state);
}
