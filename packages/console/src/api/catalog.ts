import { useQuery } from "@tanstack/react-query";
import { useScopes } from "../session/use-me";
import { bursar } from "./bursar";

/** What the operator configures changes rarely. */
const staleTime = 600_000;

export function useAssets() {
  return useQuery({
    queryKey: ["assets"],
    enabled: useScopes().includes("transactions:read"),
    queryFn: ({ signal }) => bursar.assets.list({ signal }),
    staleTime,
  });
}

export function useNetworks() {
  return useQuery({
    queryKey: ["networks"],
    queryFn: ({ signal }) => bursar.networks.list({ signal }),
    staleTime,
  });
}
