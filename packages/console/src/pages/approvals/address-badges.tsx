import type { Destination, Transaction } from "@bursar/client";
import { isSameAddress } from "../../ui/values/address";
import { ForeignText, plainly } from "../../ui/values/foreign-text";

const readMax = 1000;

/** How many payouts were read to find one to the address. */
interface Earlier {
  read: number;
  isFound: boolean;
}

type Listed = Pick<Destination, "address" | "label" | "state">;

/** What the allow-list says about an address; null if it is not on it. */
export type Listing = Listed | null;

/** Whether an approver reads the same. */
export function isSameListing(one: Listing, other: Listing): boolean {
  return listingWords(one) === listingWords(other);
}

export function listingWords(listing: Listing): string {
  if (listing === null) return "not on the allow-list";
  return `${listing.state === "active" ? "on the allow-list" : "waits on the allow-list"}: ${plainly(listing.label)}`;
}

export async function findPaid(
  payouts: AsyncIterable<Pick<Transaction, "destination">>,
  address: string,
): Promise<Earlier> {
  let read = 0;
  for await (const { destination } of payouts) {
    read += 1;
    if ("address" in destination && isSameAddress(destination.address, address))
      return { read, isFound: true };
    if (read === readMax) break;
  }
  return { read, isFound: false };
}

interface AddressBadgesProps {
  /** Undefined while it is read, and if the person must not read it. */
  listed: Listing | "unread" | undefined;
  earlier: Earlier | undefined;
}

export function AddressBadges({ listed, earlier }: AddressBadgesProps) {
  return (
    <span className="row small">
      {typeof listed === "object" && listed !== null && (
        <span className="badge" data-tone={listed.state === "active" ? "good" : "wait"}>
          {listed.state === "active" ? "on the allow-list: " : "waits on the allow-list: "}
          <ForeignText text={listed.label} limit={60} />
        </span>
      )}
      {listed === null && (
        <span className="badge" data-tone="wait">
          {listingWords(listed)}
        </span>
      )}
      {listed === "unread" && (
        <span className="badge" data-tone="wait">
          the allow-list could not be read
        </span>
      )}
      {earlier !== undefined &&
        (earlier.isFound ? (
          <span className="badge" data-tone="good">
            paid before
          </span>
        ) : (
          <span className="badge" data-tone="bad">
            {earlier.read < readMax ? "first time" : `not among the last ${readMax} payouts`}
          </span>
        ))}
    </span>
  );
}
