import { type Query, type QueryKey, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { bursar } from "../api/bursar";
import { lacksScope } from "../api/queries";
import { createBackoff } from "./backoff";
import { createRefresher } from "./create-refresher";
import { useMayFollow } from "./not-live";

/**
 * Reads queries again soon after an event, and once more later. While events go on, they are read once for each later time. The queries also
 * poll by themselves, in case the stream is interrupted.
 */
export function useRefreshOnEvents(queryKeys: readonly QueryKey[]): void {
  const isAllowed = useMayFollow();
  const queries = useQueryClient();
  const keys = JSON.stringify(queryKeys);
  useEffect(() => {
    if (!isAllowed) return undefined;
    const ending = new AbortController();
    const refresher = createRefresher(() => {
      // A reading that is under way goes on: cancelled by each event, it would never end.
      for (const queryKey of JSON.parse(keys) as QueryKey[])
        void queries.invalidateQueries({ queryKey, predicate: isOnFirstPage }, { cancelRefetch: false });
    });
    void followEvents(ending.signal, refresher.notify);
    return () => {
      ending.abort();
      refresher.stop();
    };
  }, [queries, keys, isAllowed]);
}

/** A list of several pages stays as it is while somebody reads it. */
function isOnFirstPage({ state }: Query): boolean {
  const { pages = [] } = (state.data ?? {}) as { pages?: readonly unknown[] };
  return pages.length <= 1;
}

async function followEvents(signal: AbortSignal, onEvent: () => void): Promise<void> {
  const backoff = createBackoff();
  while (!signal.aborted) {
    try {
      const latest = await bursar.events.list({ limit: 1, order: "desc" }, { signal }).page();
      const since = { since: latest.latest_sequence, epoch: latest.epoch };
      for await (const found of bursar.events.follow({ ...since, signal })) {
        onEvent();
        if (found.type === "gap") break;
      }
    } catch (error) {
      // The queries are read now and then all the same, and show what is wrong.
      if (lacksScope(error)) return;
    }
    await backoff.wait(signal);
  }
}
