import { useQuery } from "@tanstack/react-query";
import { bursar } from "../../api/bursar";

/** Statistics cover a day, and cost the service a count for each endpoint. */
const statsEveryMs = 60_000;

export function useStats(id: string) {
  return useQuery({
    queryKey: ["webhooks", "stats", id],
    queryFn: ({ signal }) => bursar.webhookEndpoints.stats(id, { hours: 24 }, { signal }),
    staleTime: statsEveryMs,
    refetchInterval: statsEveryMs,
  });
}
