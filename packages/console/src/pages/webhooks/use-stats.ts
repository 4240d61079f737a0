import { useQuery } from "@tanstack/react-query";
import { bursar } from "../../api/bursar";

/** Statistics cover a day, and cost the service a count for each endpoint. */
const listEveryMs = 60_000;
/** On the page of one endpoint, whose deliveries are live. */
export const pageEveryMs = 10_000;

export function useStats(id: string, statsEveryMs = listEveryMs) {
  return useQuery({
    queryKey: ["webhooks", "stats", id],
    queryFn: ({ signal }) => bursar.webhookEndpoints.stats(id, { hours: 24 }, { signal }),
    staleTime: statsEveryMs,
    refetchInterval: statsEveryMs,
  });
}
