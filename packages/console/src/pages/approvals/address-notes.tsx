import { useQuery } from "@tanstack/react-query";
import { bursar } from "../../api/bursar";
import { useScopes } from "../../session/use-me";
import { ForeignText } from "../../ui/values/foreign-text";

const readMax = 1000;

/** Whether an address is on the allow-list, and whether it was paid before. */
export function AddressNotes({ address, network }: { address: string; network: string }) {
  const isAllowed = useScopes().includes("policies:read");
  const listed = useQuery({
    queryKey: ["listed", network, address],
    enabled: isAllowed,
    staleTime: 30_000,
    queryFn: async ({ signal }) => {
      let read = 0;
      for await (const destination of bursar.destinations.list({ network, limit: 200 }, { signal })) {
        if (isSame(destination.address, address)) return destination;
        read += 1;
        if (read === readMax) break;
      }
      return null;
    },
  });
  const earlier = useQuery({
    queryKey: ["paid-before", network, address],
    staleTime: 30_000,
    queryFn: async ({ signal }) => {
      let read = 0;
      const payouts = bursar.transactions.list(
        { kind: "payout", state: ["completed"], limit: 200 },
        { signal },
      );
      for await (const { destination } of payouts) {
        read += 1;
        if ("address" in destination && isSame(destination.address, address)) return { read, isFound: true };
        if (read === readMax) break;
      }
      return { read, isFound: false };
    },
  });
  return (
    <span className="row small">
      {listed.data != null && (
        <span className="badge" data-tone={listed.data.state === "active" ? "good" : "wait"}>
          {listed.data.state === "active" ? "on the allow-list: " : "waits on the allow-list: "}
          <ForeignText text={listed.data.label} limit={60} />
        </span>
      )}
      {listed.data === null && (
        <span className="badge" data-tone="wait">
          not on the allow-list
        </span>
      )}
      {earlier.data !== undefined &&
        (earlier.data.isFound ? (
          <span className="badge" data-tone="good">
            paid before
          </span>
        ) : (
          <span className="badge" data-tone="bad">
            {earlier.data.read < readMax ? "first time" : `not among the last ${readMax} payouts`}
          </span>
        ))}
    </span>
  );
}

/** Addresses of EVM networks differ in case alone by their checksum. */
function isSame(one: string, other: string): boolean {
  return one === other || (one.startsWith("0x") && one.toLowerCase() === other.toLowerCase());
}
