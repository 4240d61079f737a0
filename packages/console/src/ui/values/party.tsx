import type { AddressParty, WalletParty } from "@bursar/client";
import { Link } from "@tanstack/react-router";
import { ForeignText } from "./foreign-text";

/** A wallet of the tenant, or an address on a network. */
export function Party({
  party,
  names,
  isShort = false,
}: {
  party: WalletParty | AddressParty | null;
  names?: ReadonlyMap<string, string> | undefined;
  /** In a list, which has no room for an address: its two ends, and all of it on the page of the object. */
  isShort?: boolean;
}) {
  if (party === null) return <span className="quiet">outside</span>;
  if ("address" in party)
    return (
      <span className="mono" title={party.address}>
        {isShort && party.address.length > 20
          ? `${party.address.slice(0, 8)}…${party.address.slice(-8)}`
          : party.address}
      </span>
    );
  return (
    <Link to="/wallets/$id" params={{ id: party.wallet_id }}>
      <ForeignText text={names?.get(party.wallet_id) ?? party.wallet_id} limit={60} />
    </Link>
  );
}
