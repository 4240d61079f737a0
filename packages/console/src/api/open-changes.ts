import type { ChangeRequest } from "@bursar/client";
import { useQuery } from "@tanstack/react-query";
import { useMe, useScopes } from "../session/use-me";
import { bursar } from "./bursar";
import type { PendingApprovals } from "./pending-approvals";

/** A tenant has at most 100 open change requests. */
const limit = 200;

/** Those of the route that lists change requests. */
const scopesToRead = ["transactions:approve", "policies:manage", "destinations:manage", "clients:manage"];

function useChangesIn(state: "pending" | "scheduled") {
  const scopes = useScopes();
  return useQuery({
    queryKey: ["change-requests", "open", state],
    enabled: scopesToRead.some((scope) => scopes.includes(scope)),
    queryFn: async ({ signal }) =>
      (await bursar.changeRequests.list({ state, limit }, { signal }).page()).data,
    refetchInterval: 10_000,
  }).data;
}

/** The changes that wait for approval, or are approved and wait for their time; none for those who must not read them. */
export function useOpenChanges(): readonly ChangeRequest[] {
  return [...(useChangesIn("pending") ?? []), ...(useChangesIn("scheduled") ?? [])];
}

/** How many changes wait for approval, and how many of them for this person; undefined while it is not known. */
export function usePendingChanges(): Pick<PendingApprovals, "count" | "own" | "isCut"> | undefined {
  const me = useMe().data?.client.id;
  const pending = useChangesIn("pending");
  if (pending === undefined) return undefined;
  const own = pending.filter(
    ({ requested_by, decisions }) =>
      requested_by !== me && decisions.every(({ client_id }) => client_id !== me),
  );
  return { count: pending.length, own: own.length, isCut: false };
}
