import { useQuery } from "@tanstack/react-query";
import { bursar } from "../api/bursar";

/** Who is logged in, and what they may do. */
export function useMe() {
  return useQuery({ queryKey: ["me"], queryFn: () => bursar.me.get(), staleTime: 60_000 });
}

export function useScopes(): readonly string[] {
  return useMe().data?.token.scopes ?? [];
}
