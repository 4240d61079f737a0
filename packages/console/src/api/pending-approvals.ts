import type { Transaction } from "@bursar/client";
import { useQuery } from "@tanstack/react-query";
import { useMe, useScopes } from "../session/use-me";
import { bursar } from "./bursar";

const countedMax = 100;
/** A page can be empty and not be the last. */
const pagesMax = 5;

export interface PendingApprovals {
  count: number;
  /** The count, with a plus sign if there are more than were counted. */
  shown: string;
  /** Those that wait for a decision of this person, of those that were counted. */
  own: number;
  /** Whether there are more than were counted. */
  isCut: boolean;
}

/** How many payments wait for approval; undefined while it is not known, and for those who must not read payments. */
export function usePendingApprovals(): PendingApprovals | undefined {
  const me = useMe().data?.client.id;
  const { data } = useQuery({
    queryKey: ["approvals", "count"],
    enabled: useScopes().includes("transactions:read"),
    queryFn: ({ signal }) => readWaiting(signal),
    select: ({ waiting, isCut }) => ({
      count: waiting.length,
      shown: `${waiting.length}${isCut ? "+" : ""}`,
      own: waiting.filter(
        ({ created_by, approval }) =>
          created_by !== me && approval?.decisions.every(({ client_id }) => client_id !== me) === true,
      ).length,
      isCut,
    }),
    refetchInterval: 10_000,
  });
  return data;
}

async function readWaiting(signal: AbortSignal): Promise<{ waiting: Transaction[]; isCut: boolean }> {
  const waiting: Transaction[] = [];
  let cursor: string | null = null;
  for (let pages = 0; pages < pagesMax && waiting.length < countedMax; pages++) {
    const query = { state: ["awaiting_approval" as const], limit: countedMax - waiting.length };
    const page = await bursar.transactions
      .list(cursor === null ? query : { ...query, cursor }, { signal })
      .page();
    waiting.push(...page.data);
    cursor = page.next_cursor;
    if (cursor === null) break;
  }
  return { waiting, isCut: cursor !== null };
}
