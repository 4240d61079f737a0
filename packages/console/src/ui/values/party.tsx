import type { AddressParty, WalletParty } from "@bursar/client";
import { Link } from "@tanstack/react-router";
import { useNamedWallet } from "../../api/wallet-names";
import { AddressLabel } from "./address-label";
import { ForeignText } from "./foreign-text";
import { ShortId } from "./short-id";

/** A wallet of the tenant, or an address on a network. */
export function Party({
  party,
  network,
  isShort = false,
}: {
  party: WalletParty | AddressParty | null;
  /** Of an address, to show its label on the list of destinations. */
  network?: string;
  /** In a list, which has no room for an address: its two ends, and all of it on the page of the object. */
  isShort?: boolean;
}) {
  if (party === null) return <span className="quiet">outside</span>;
  if ("address" in party)
    return (
      <>
        {network !== undefined && <AddressLabel address={party.address} network={network} />}
        <span className="mono" title={party.address}>
          {isShort && party.address.length > 20
            ? `${party.address.slice(0, 8)}…${party.address.slice(-8)}`
            : party.address}
        </span>
      </>
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
