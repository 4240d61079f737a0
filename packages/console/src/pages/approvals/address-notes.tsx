import { useQuery } from "@tanstack/react-query";
import { bursar } from "../../api/bursar";
import { AddressBadges, findPaid } from "./address-badges";
import type { ShownListing } from "./use-listing";

interface AddressNotesProps {
  address: string;
  network: string;
  listed: ShownListing["now"];
}

/** Whether an address is on the allow-list, and whether it was paid before. */
export function AddressNotes({ address, network, listed }: AddressNotesProps) {
  const earlier = useQuery({
    queryKey: ["paid-before", network, address],
    staleTime: 30_000,
    queryFn: ({ signal }) =>
      findPaid(
        bursar.transactions.list({ kind: "payout", state: ["completed"], limit: 200 }, { signal }),
        address,
      ),
  });
  return <AddressBadges listed={listed} earlier={earlier.data} />;
}
