import { useQuery } from "@tanstack/react-query";
import { useMe, useScopes } from "../session/use-me";
import { bursar } from "./bursar";

const countedMax = 100;

interface PendingApprovals {
  count: number;
  /** The count, with a plus sign if there are more than were counted. */
  shown: string;
  /** Those that wait for a decision of this person, of those that were counted. */
  own: number;
}

/** How many payments wait for approval; undefined while it is not known, and for those who must not read payments. */
export function usePendingApprovals(): PendingApprovals | undefined {
  const me = useMe().data?.client.id;
  const { data } = useQuery({
    queryKey: ["approvals", "count"],
    enabled: useScopes().includes("transactions:read"),
    queryFn: async ({ signal }) => {
      const query = { state: ["awaiting_approval" as const], limit: countedMax };
      const { data, next_cursor } = await bursar.transactions.list(query, { signal }).page();
      return { waiting: data, more: next_cursor === null ? "" : "+" };
    },
    select: ({ waiting, more }) => ({
      count: waiting.length,
      shown: `${waiting.length}${more}`,
      own: waiting.filter(
        ({ created_by, approval }) =>
          created_by !== me && approval?.decisions.every(({ client_id }) => client_id !== me) === true,
      ).length,
    }),
    refetchInterval: 10_000,
  });
  return data;
}
