import { useQuery } from "@tanstack/react-query";
import { useScopes } from "../session/use-me";
import { bursar } from "./bursar";

const countedMax = 100;

interface PendingApprovals {
  count: number;
  /** The count, with a plus sign if there are more than were counted. */
  shown: string;
}

/** How many payments wait for approval; undefined while it is not known, and for those who must not read payments. */
export function usePendingApprovals(): PendingApprovals | undefined {
  const { data } = useQuery({
    queryKey: ["approvals", "count"],
    enabled: useScopes().includes("transactions:read"),
    queryFn: async ({ signal }) => {
      const query = { state: ["awaiting_approval" as const], limit: countedMax };
      const { data, next_cursor } = await bursar.transactions.list(query, { signal }).page();
      return { count: data.length, shown: `${data.length}${next_cursor === null ? "" : "+"}` };
    },
    refetchInterval: 10_000,
  });
  return data;
}
