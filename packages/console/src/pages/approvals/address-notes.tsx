import { useQuery } from "@tanstack/react-query";
import { bursar } from "../../api/bursar";
import { useScopes } from "../../session/use-me";
import { AddressBadges, findListed, findPaid } from "./address-badges";

/** Whether an address is on the allow-list, and whether it was paid before. */
export function AddressNotes({ address, network }: { address: string; network: string }) {
  const isAllowed = useScopes().includes("policies:read");
  const listed = useQuery({
    queryKey: ["listed", network, address],
    enabled: isAllowed,
    staleTime: 30_000,
    queryFn: ({ signal }) =>
      findListed(bursar.destinations.list({ network, limit: 200 }, { signal }), address),
  });
  const earlier = useQuery({
    queryKey: ["paid-before", network, address],
    staleTime: 30_000,
    queryFn: ({ signal }) =>
      findPaid(
        bursar.transactions.list({ kind: "payout", state: ["completed"], limit: 200 }, { signal }),
        address,
      ),
  });
  return <AddressBadges listed={listed.data} earlier={earlier.data} />;
}
