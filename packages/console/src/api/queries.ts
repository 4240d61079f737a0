import { isBursarError } from "@bursar/client";
import { QueryClient } from "@tanstack/react-query";

/** The client repeats what may succeed, so a query is never repeated on its own; a lost session is shown by the shell. */
export const queries = new QueryClient({
  defaultOptions: {
    queries: { retry: false, staleTime: 5000, refetchOnWindowFocus: true },
    mutations: { retry: false },
  },
});

export function hasEnded(error: unknown): boolean {
  return isBursarError(error) && error.status === 401;
}
