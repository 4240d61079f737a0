import { isBursarError } from "@bursar/client";
import { MutationCache, QueryCache, QueryClient } from "@tanstack/react-query";

/**
 * What is asked for while the browser is offline fails at once. The library would keep it, and send a payment minutes later, when its person
 * has given up and paid by other means.
 */
const offline = { networkMode: "always" } as const;

/** The client repeats what may succeed, so a query is never repeated on its own; a lost session is shown by the shell. */
export const queries: QueryClient = new QueryClient({
  queryCache: new QueryCache({ onError: (error, { queryKey }) => noteEnd(error, queryKey[0] === "me") }),
  mutationCache: new MutationCache({ onError: (error) => noteEnd(error, false) }),
  defaultOptions: {
    queries: {
      ...offline,
      retry: false,
      staleTime: 5000,
      refetchOnWindowFocus: true,
      refetchOnReconnect: true,
    },
    mutations: { ...offline, retry: false },
  },
});

/** Whatever finds out that the session has ended, the shell learns it from `me`, and asks to log in. */
function noteEnd(error: unknown, isMe: boolean): void {
  if (hasEnded(error) && !isMe) void queries.invalidateQueries({ queryKey: ["me"] });
}

export function hasEnded(error: unknown): boolean {
  return isBursarError(error) && error.status === 401;
}

/** Whether the person may not do this. A stream that is refused so is not asked for again: a scope does not come by itself. */
export function lacksScope(error: unknown): boolean {
  return isBursarError(error) && error.code === "INSUFFICIENT_SCOPE";
}
