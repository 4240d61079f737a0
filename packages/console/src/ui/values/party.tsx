import type { AddressParty, WalletParty } from "@bursar/client";
import { Link } from "@tanstack/react-router";
import { useNamedWallet } from "../../api/wallet-names";
import { ForeignText } from "./foreign-text";
import { ShortId } from "./short-id";

/** A wallet of the tenant, or an address on a network. */
export function Party({
  party,
  isShort = false,
}: {
  party: WalletParty | AddressParty | null;
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
  return <WalletLink id={party.wallet_id} />;
}

/** A wallet by its name, or by its id if the name is not known. */
export function WalletLink({ id }: { id: string }) {
  const named = useNamedWallet(id);
  return (
    <>
      <Link to="/wallets/$id" params={{ id }}>
        <ForeignText text={named?.name ?? id} limit={60} />
      </Link>
      {named?.needsId && <ShortId id={id} />}
    </>
  );
}
